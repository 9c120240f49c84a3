// Package intact keeps what a contained call may not change: the tasks of the plan that are
// not its own, and ralph's own files where the sandbox cannot lock them. Files before and after
// a call go in; those that count stay on disk.
package intact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"ralph/ptyexec/cover"
	"ralph/runner/audit"
	"ralph/runner/audit/asks"
	"ralph/runner/task"
	"ralph/runner/task/rewrite"
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
	// Hidden is true when nobody can see the processes of checks: they are in a container.
	Hidden bool
}

// Plan is the plan before a call. The zero value keeps nothing.
type Plan struct {
	call   Call
	inside bool // the call is contained
	before store.Plan
	files  []file // of the plan
	copied string // where the sandbox leaves what the call made of its copy; empty: it has none
	own    []own
}

type file struct {
	path string
	real string // where the path led before the call
	top  string // the same of the plan: whoever writes locks that
	data []byte
	mode os.FileMode
}

// Outcome is what became of the plan. In the zero value, it is as the call left it.
type Outcome struct {
	Forged  []string    // ralph's own files that the call has changed; they are as before
	Touched []task.Task // of other tasks, as they are
	Says    bool        // the call has marked its own task done, in what does not count
	Left    string      // what did not get into the plan because a person has changed it; empty: nothing
	made    store.Plan  // of the call, where that does not count; zero: it does
	back    string      // what ralph did about it
	added   []string    // titles of new tasks in what the call made
	aside   string      // where the texts of Forged are
}

// Remember reads the plan before a call that is contained.
func Remember(contained bool, c Call, before store.Plan) *Plan {
	p := &Plan{call: c, inside: contained, before: before}
	if !contained || c.Task.ID == "" || !before.Usable() {
		return p
	}
	dir := filepath.Dir(c.Plan.Path)
	left, _ := fs.Glob(os.DirFS(dir), returned+"*") // ralph was killed
	for _, name := range left {
		_ = os.Remove(filepath.Join(dir, name))
	}
	for _, path := range Paths(c.Plan, before) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if data, err := state.ReadFile(path, store.MaxSize); err == nil {
			p.files = append(p.files, file{path, realPath(path), realPath(c.Plan.Path), data, info.Mode().Perm()})
		}
	}
	return p
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

// People says what the plan was before a call, with all that people have changed since, and whether
// they have.
type People func() (store.Plan, bool)

// Apart is true when the call has a copy of the plan: what changes in the plan itself is a person's.
func (p *Plan) Apart() bool { return p.copied != "" }

// Settle puts back what the call must not change. It may ask for people's changes several times: the
// latest answer counts.
func (p *Plan) Settle(now People) (Outcome, error) {
	var names []string
	aside := false
	var broken error // the rest is put back all the same
	for _, one := range p.own {
		forged, kept, err := one.restore(p.call, people.Beside(p.call.Plan.Edits))
		aside = aside || kept
		names, broken = append(names, forged...), errors.Join(broken, err)
	}
	p.own = nil
	o, err := p.settle(now)
	if o.Forged = names; aside {
		o.aside = fmt.Sprintf("; what was in it is in %s/%d.*", p.call.Logs, p.call.Iteration)
	}
	return o, errors.Join(broken, err)
}

// settle takes over what the call made of its copy of the plan, or puts back what it changed
// in the plan itself.
func (p *Plan) settle(now People) (o Outcome, err error) {
	before, edited := now()
	switch {
	case p.copied != "":
		return p.takeOver(before)
	case len(p.files) == 0 || edited: // nobody knows the text of a person's edit alone
		return o, nil
	}
	if o = p.judge(before, store.Read(p.call.Plan)); len(o.Touched) == 0 {
		return Outcome{}, nil
	}
	if p.call.Plan.Edits != "" {
		time.Sleep(recorded)
	}
	unlock, err := rewrite.Lock(p.files[0].top)
	if err != nil {
		return o, err
	}
	defer unlock()
	for range rewrite.Tries {
		texts := p.texts()
		before, edited = now()
		if o = p.judge(before, store.Read(p.call.Plan)); edited || len(o.Touched) == 0 {
			return Outcome{}, nil
		}
		if o.back, err = p.putBack(texts); !errors.Is(err, rewrite.ErrChanged) {
			return o, err
		}
	}
	return o, err
}

// texts are the files of the plan as they are now; nil: the path leads elsewhere, or nowhere.
func (p *Plan) texts() (all [][]byte) {
	for _, f := range p.files {
		var data []byte
		if realPath(f.path) == f.real {
			data, _ = state.ReadFile(f.path, store.MaxSize)
		}
		all = append(all, data)
	}
	return all
}

// putBack writes the files as they were, unless one is no longer the text that was looked at.
func (p *Plan) putBack(texts [][]byte) (back string, err error) {
	back = "the plan is as it was again"
	for i, text := range p.texts() {
		if !bytes.Equal(text, texts[i]) {
			return back, rewrite.ErrChanged
		}
	}
	for i, f := range p.files {
		if texts[i] != nil && bytes.Equal(texts[i], f.data) {
			continue
		}
		if kept := p.call.keepAside(f.path, texts[i]); kept != "" {
			back += "; the other text is in " + kept + " (if you wrote it: while a call runs, use ralph task)"
		}
		if err := f.write(f.data); err != nil {
			return back, err
		}
	}
	return back, nil
}

// takeOver takes the copy over, unless it changes other tasks. now is the plan, in which all that has
// changed is a person's.
func (p *Plan) takeOver(now store.Plan) (o Outcome, err error) {
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
	if o = p.judge(p.before, seen(p.call.Plan, list)); len(o.Touched) > 0 {
		o.made, _ = o.made.With(p.before, now)
		o.back = "it did not get into the plan" + madeOfIt(p.call.keepAside(f.path, made))
		return o, nil
	}
	o = Outcome{Says: o.Says}
	if written, err := f.replace(made); written || err != nil {
		return o, err
	}
	kept := p.call.keepAside(f.path, made) // with what stands between tasks
	if left := p.graft(made); len(left) > 0 {
		o.Left = "the plan changed while the call worked on a copy, so this did not get into it: " + strings.Join(left, ", ") + madeOfIt(kept)
	}
	return o, nil
}

// judge finds what a plan says differently about other tasks.
func (p *Plan) judge(before, made store.Plan) Outcome {
	own := p.call.Task
	o := Outcome{Says: made.IsDone(own.ID), made: made, added: added(before.List.Tasks, made.List.Tasks)}
	if !asks.ForPlan(audit.TextOf(own)) {
		o.Touched = others(before.List.Tasks, made.List.Tasks, own.ID)
	}
	return o
}

// others are the tasks that a plan lacks or says differently, but for the own one, those below
// it, and the states of those around it.
func others(before, after []task.Task, own string) (all []task.Task) {
	around, below := family(before, own)
	at := task.Index(after)
	for i, was := range before {
		j, stays := at[was.ID]
		switch {
		case slices.Contains(below, i):
		case !stays, was.Wording() != after[j].Wording(),
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

// madeOfIt says where a copy is kept; empty: nowhere.
func madeOfIt(kept string) string {
	if kept == "" {
		return ""
	}
	return "; what the call made of it is in " + kept
}

// mostAside is how many texts of one file an iteration keeps.
const mostAside = 20

// keepAside keeps a text that does not count, and returns where; empty: nowhere.
func (c Call) keepAside(path string, text []byte) string {
	if c.Logs == "" || len(text) == 0 {
		return ""
	}
	name := fmt.Sprintf("%d.%s", c.Iteration, filepath.Base(path))
	free := name
	for n := 2; n <= mostAside; n++ {
		if info, err := os.Lstat(filepath.Join(c.Logs, free)); err != nil || !info.Mode().IsRegular() {
			break
		}
		free = fmt.Sprintf("%s.%d", name, n) // a call and its checks may both have changed the file
	}
	to, err := state.RunLogs{Dir: c.Logs}.Keep(free, string(text))
	if err != nil {
		return ""
	}
	return to
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

// replace writes the file if it is still what it was.
func (f file) replace(text []byte) (written bool, err error) {
	unlock, err := rewrite.Lock(f.top)
	if err != nil {
		return false, err
	}
	defer unlock()
	if now, err := state.ReadFile(f.path, store.MaxSize); err != nil || !bytes.Equal(now, f.data) {
		return false, nil // what a person makes of it counts
	}
	return true, f.write(text)
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
			Text: "the call changed files that are not its own: " + strings.Join(o.Forged, ", ")})
	}
	return all
}

// Answer is what was done about a finding; empty: nothing.
func (o Outcome) Answer(f audit.Finding) string {
	if f.Kind == audit.KindStateChanged {
		return "it is as before again" + o.aside
	}
	if f.Task != "" && len(o.Touched) > 0 {
		return o.back + o.lost()
	}
	return ""
}
