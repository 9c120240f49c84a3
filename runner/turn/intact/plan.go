// Package intact keeps what a contained call may not change: the tasks of the plan that are
// not its own, and ralph's own files where the sandbox cannot lock them. Files before and after
// a call go in; those that count stay on disk.
package intact

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"ralph/ptyexec/cover"
	"ralph/runner/audit"
	"ralph/runner/audit/asks"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/people"
)

// Call says what belongs to a call.
type Call struct {
	Plan store.File
	Task task.Task // zero: none is its own, so all may change
	// Logs is the folder that keeps what was put back; empty: nothing does.
	Logs      string
	Iteration int
	// State is the state directory, where the sandbox cannot lock it; empty: it can.
	State string
}

// Plan is the plan before a call. The zero value keeps nothing.
type Plan struct {
	call   Call
	inside bool   // the call is contained
	files  []file // of the plan
	copied string // where the sandbox leaves what the call made of its copy; empty: it has none
	own    []own
}

type file struct {
	path string
	real string // where the path led before the call
	data []byte
	mode os.FileMode
}

// Outcome is what became of the plan. In the zero value, it is as the call left it.
type Outcome struct {
	Forged  []string    // ralph's own files that the call has changed; they are as before
	Touched []task.Task // of other tasks, as they are
	Says    bool        // the call has marked its own task done, in what does not count
	made    store.Plan  // of the call, where that does not count; zero: it does
	back    string      // what ralph did about it
}

// Remember reads the plan before a call that is contained.
func Remember(contained bool, c Call, before store.Plan) *Plan {
	p := &Plan{call: c, inside: contained}
	if !contained || c.Task.ID == "" || !before.Usable() {
		return p
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(c.Plan.Path), returned+"*")) // ralph was killed
	for _, path := range left {
		_ = os.Remove(path)
	}
	for _, path := range paths(c.Plan, before) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if data, err := state.ReadFile(path, store.MaxSize); err == nil {
			p.files = append(p.files, file{path, realPath(path), data, info.Mode().Perm()})
		}
	}
	return p
}

// paths are the files of a plan.
func paths(f store.File, plan store.Plan) (all []string) {
	dir := f.Path
	switch own := plan.List.Files; {
	case len(own) == 0:
		return []string{f.Path}
	case slices.Contains(own, path.Base(f.Name)): // the plan is one of the files
		dir = filepath.Dir(f.Path)
	}
	for _, name := range plan.List.Files {
		all = append(all, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return all
}

// seen is the plan with what was read elsewhere.
func seen(f store.File, list task.List) store.Plan {
	list.View, list.Tasks = f.View, slices.Concat(f.Popped, list.Tasks)
	return store.Of(list)
}

// Open are the files that the call may write although they are locked; of nil: none.
func (p *Plan) Open() []string {
	if p == nil {
		return nil
	}
	return []string{p.call.Plan.Path}
}

// Starts is called when ralph has written what it writes before a call, with the places of the
// sandbox: it may give the call a copy of the plan.
func (p *Plan) Starts(places *cover.Places) {
	if p == nil {
		return
	}
	if p.own = remember(p.call.State, p.call.Logs); places == nil {
		return
	}
	for i, s := range places.Stages {
		if len(p.files) == 1 && s.File == p.files[0].path {
			p.copied = filepath.Join(filepath.Dir(s.File), returned+filepath.Base(s.Dir))
			places.Stages[i].To = p.copied
		}
	}
}

// returned begins the names of files in which a sandbox leaves a copy.
const returned = ".returned-"

// Settle puts back what the call must not change. before is the plan, including any changes that people
// made during the call; edited says whether they made any.
func (p *Plan) Settle(before store.Plan, edited bool) (Outcome, error) {
	var names []string
	var broken error // the rest is put back all the same
	for _, one := range p.own {
		forged, err := one.restore(p.call, people.Beside(p.call.Plan.Edits))
		names, broken = append(names, forged...), errors.Join(broken, err)
	}
	o, err := p.settle(before, edited)
	o.Forged = names
	return o, errors.Join(broken, err)
}

// Around does the same while the checks after a call run: the call may have written those checks.
func (p *Plan) Around(left store.Plan, checks func() error) ([]audit.Finding, error) {
	begun, q := time.Now(), Remember(p.inside, p.call, left)
	q.Starts(nil)
	err := checks()
	info, missing := os.Stat(p.call.Plan.Edits)
	o, broken := q.Settle(left, missing == nil && info.ModTime().After(begun))
	return o.Findings(nil), errors.Join(err, broken)
}

// settle takes over what the call made of its copy of the plan, or puts back what it changed
// in the plan itself.
func (p *Plan) settle(before store.Plan, edited bool) (o Outcome, err error) {
	if p.copied != "" {
		return p.takeOver(before)
	}
	if len(p.files) == 0 || edited { // nobody knows the text of a person's edit alone
		return o, nil
	}
	now := store.Read(p.call.Plan)
	if o = p.judge(before, now); len(o.Touched) == 0 {
		return Outcome{}, nil
	}
	o.back = "the plan is as it was again"
	for _, f := range p.files {
		if realPath(f.path) == f.real { // else the path now leads to some other file
			data, err := state.ReadFile(f.path, store.MaxSize)
			if err == nil && bytes.Equal(data, f.data) {
				continue
			}
			o.back += p.call.keepAside(f.path, data)
		}
		if err := f.write(f.data); err != nil {
			return o, err
		}
	}
	return o, nil
}

// takeOver takes the copy over, unless it changes other tasks, or a person has changed the plan.
func (p *Plan) takeOver(before store.Plan) (o Outcome, err error) {
	f := p.files[0]
	made, err := state.ReadFile(p.copied, store.MaxSize)
	if err != nil {
		return o, nil // the call changed nothing
	}
	_ = os.Remove(p.copied)
	list, err := store.Parse(f.path, made, p.call.Plan.OptionalSections)
	if err != nil {
		list = task.List{}
	}
	o = p.judge(before, seen(p.call.Plan, list))
	now, err := state.ReadFile(f.path, store.MaxSize)
	switch {
	case err != nil || !bytes.Equal(now, f.data): // what a person makes of it counts
		return Outcome{Says: o.Says}, nil
	case len(o.Touched) > 0:
		o.back = "it did not get into the plan" + p.call.keepAside(f.path, made)
		return o, nil
	}
	return Outcome{}, f.write(made)
}

// judge finds what a plan says differently about other tasks.
func (p *Plan) judge(before, made store.Plan) Outcome {
	own := p.call.Task
	o := Outcome{Says: made.IsDone(own.ID), made: made}
	if !asks.ForPlan(audit.TextOf(own)) {
		o.Touched = others(before.List.Tasks, made.List.Tasks, own.ID)
	}
	return o
}

// others are the tasks that a plan lacks or says differently, but for the own one, those below
// it, and the states of those around it.
func others(before, after []task.Task, own string) (all []task.Task) {
	around, below := family(before, own)
	for i, was := range before {
		j := slices.IndexFunc(after, func(t task.Task) bool { return t.ID == was.ID })
		switch {
		case slices.Contains(below, i):
		case j < 0, was.Wording() != after[j].Wording(),
			was.State != after[j].State && !slices.Contains(around, i):
			all = append(all, was)
		}
	}
	return all
}

// family are the tasks around one, and the task itself with those below it.
func family(tasks []task.Task, id string) (around, below []int) {
	at := slices.IndexFunc(tasks, func(t task.Task) bool { return t.ID == id })
	if at < 0 {
		return nil, nil
	}
	below = append(below, at)
	for i := at + 1; i < len(tasks) && tasks[i].Depth > tasks[at].Depth; i++ {
		below = append(below, i)
	}
	for i, depth := at-1, tasks[at].Depth; i >= 0; i-- {
		if tasks[i].Depth < depth {
			around, depth = append(around, i), tasks[i].Depth
		}
	}
	return around, below
}

// keepAside keeps a text that does not count, and says where.
func (c Call) keepAside(path string, text []byte) string {
	if c.Logs == "" || len(text) == 0 {
		return ""
	}
	to, err := state.RunLogs{Dir: c.Logs}.Keep(fmt.Sprintf("%d.%s", c.Iteration, filepath.Base(path)), string(text))
	if err != nil {
		return ""
	}
	return "; what the call made of it is in " + to
}

// realPath is where a path leads; empty: nowhere.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// write writes the file to the place that its path led to before the call. A link that the call put in its
// place is replaced. If the folder now leads elsewhere, nothing is written.
func (f file) write(data []byte) error {
	err := os.MkdirAll(filepath.Dir(f.real), 0o755)
	if dir := filepath.Dir(f.real); err == nil && realPath(dir) != dir {
		err = fmt.Errorf("%q leads to another folder than before", dir)
	}
	if err == nil {
		err = renameio.WriteFile(f.real, data, f.mode, renameio.WithTempDir(filepath.Dir(f.real)))
	}
	if err != nil {
		return fmt.Errorf("put plan back: %w", err)
	}
	return nil
}

// Made is the plan as the call made it: now, unless that does not count.
func (o Outcome) Made(now store.Plan) store.Plan {
	if o.made.Known {
		return o.made
	}
	return now
}

// Findings adds one for each task of others that has none yet, and Answer says what was done.
func (o Outcome) Findings(all []audit.Finding) []audit.Finding {
	for _, t := range o.Touched {
		if !slices.ContainsFunc(all, func(f audit.Finding) bool { return f.Task == t.ID }) {
			all = append(all, audit.Finding{Kind: audit.KindTaskChanged, Task: t.ID, Doubt: true,
				Text: fmt.Sprintf("the task %q was changed, and the iteration was for another one", t.Title)})
		}
	}
	if len(o.Forged) > 0 {
		all = append(all, audit.Finding{Kind: audit.KindStateChanged,
			Text: "the call changed files that only ralph and its commands write: " + strings.Join(o.Forged, ", ")})
	}
	return all
}

// Answer is what was done about a finding; empty: nothing.
func (o Outcome) Answer(f audit.Finding) string {
	if f.Kind == audit.KindStateChanged {
		return "it is as before again"
	}
	if f.Task != "" && len(o.Touched) > 0 {
		return o.back
	}
	return ""
}
