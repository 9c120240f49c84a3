// Package protect undoes what a sandboxed agent may not change: other tasks of the plan, and
// ralph's own files where the sandbox cannot lock them. It compares the files before and after a
// call.
package protect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/ptyexec/cover"
	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
	"ralph/state/projectfs"
)

// Call says what belongs to a call.
type Call struct {
	Plan store.File
	Task task.Task // zero: none is its own, so all may change
	// Logs is the folder that keeps the texts that ralph replaced; empty: it keeps none.
	Logs      string
	Iteration int
	// State is the state directory if the sandbox cannot lock it; empty: it can.
	State string
}

// Plan is the plan before a call. The zero value protects nothing.
type Plan struct {
	call   Call
	inside bool // the call is contained
	checks bool // it guards checks, which finish no tasks
	before store.Plan
	files  []file // of the plan
	copied string // where the sandbox puts the call's copy of the plan; empty: it has none
	own    []ownFiles
}

type file struct {
	path string
	data []byte
	mode os.FileMode
}

// Outcome says what happened to the plan. The zero value: it is as the call left it.
type Outcome struct {
	Forged  []string    // ralph's own files that the call changed; ralph has restored them
	Touched []task.Task // other tasks that the call changed, as they were before
	Broken  string      // why the plan that the call left cannot be used; empty: it can
	Says    bool        // the call marked its own task as done in a plan that does not count
	Left    string      // what did not get into the plan because a person had changed it; empty: nothing
	made    store.Plan  // the plan of the call, if it does not count; zero: it does
	back    string      // what ralph did about it
	added   []string    // titles of new tasks in the plan of the call
	aside   string      // where the texts of Forged are
}

// Remember reads the plan before a call. Only a contained one may not change other tasks.
func Remember(contained bool, c Call, before store.Plan) *Plan {
	p := &Plan{call: c, inside: contained && c.Task.ID != "", before: before}
	if !before.Usable() {
		return p
	}
	dir, in := filepath.Dir(c.Plan.Path), c.Plan.Project()
	if p.inside {
		left, _ := fs.Glob(in.FS(dir), returned+"*") // ralph was killed
		for _, name := range left {
			_ = in.Remove(filepath.Join(dir, name))
		}
	}
	for _, path := range Paths(c.Plan, before) {
		info, err := in.Lstat(path)
		if err != nil {
			continue
		}
		if data, err := in.Read(path, store.MaxSize); err == nil {
			p.files = append(p.files, file{path, data, info.Mode().Perm()})
		}
	}
	return p
}

// seen returns the plan with a list that was read elsewhere.
func seen(f store.File, list task.List) store.Plan {
	list.View, list.Tasks = f.View, slices.Concat(f.Popped, list.Tasks)
	return store.Of(list)
}

// Open returns the files that the call may write in locked folders; of nil: none.
func (p *Plan) Open() []string {
	if p == nil {
		return nil
	}
	return []string{p.call.Plan.Path}
}

// CallStarts is called after ralph's last write before a call, with the places of the
// sandbox, which may give the call a copy of the plan.
func (p *Plan) CallStarts(places *cover.Places) {
	if p == nil {
		return
	}
	if p.own = remember(p.call.State); places == nil {
		return
	}
	for i, s := range places.Stages {
		if len(p.files) == 1 && s.File == p.files[0].path {
			p.copied = filepath.Join(filepath.Dir(s.File), returned+filepath.Base(s.Dir))
			places.Stages[i].To = p.copied
		}
	}
}

// returned is the prefix of the files to which a sandbox moves the call's copy.
const returned = ".returned-"

// People returns the plan before a call with everything that people have changed since, and whether there is any such
// change.
type People func() (store.Plan, bool)

// Apart is true if the call has a copy of the plan: then every change of the plan itself is a person's.
func (p *Plan) Apart() bool { return p.copied != "" }

// Settle restores what the call must not change. It may ask for people's changes several times: the
// latest answer counts.
func (p *Plan) Settle(now People) (Outcome, error) {
	var names []string
	aside := false
	var broken error // an error does not stop it from restoring the rest
	for _, one := range p.own {
		forged, kept, err := one.restore(p.call, state.PeopleRecordPath(p.call.Plan.Edits))
		aside = aside || kept
		names, broken = append(names, forged...), errors.Join(broken, err)
	}
	p.own = nil
	o, err := p.settle(now)
	if o.Forged = names; aside {
		o.aside = fmt.Sprintf(" and kept what the call wrote in %s/%d.*", p.call.Logs, p.call.Iteration)
	}
	return o, errors.Join(broken, err)
}

// settle takes over the call's copy of the plan, or restores what the call changed
// in the plan itself.
func (p *Plan) settle(now People) (o Outcome, err error) {
	before, edited := now()
	switch {
	case p.copied != "":
		return p.takeOver(before)
	case len(p.files) == 0 || edited: // the edits of the person and the call cannot be separated
		return o, nil
	}
	if o = p.judge(before, store.Read(p.call.Plan)); o.harmless() {
		return Outcome{}, nil
	}
	if p.call.Plan.Edits != "" {
		time.Sleep(RecordDelay)
	}
	unlock, err := store.LockPlan(p.call.Plan.Path)
	if err != nil {
		return o, err
	}
	defer unlock()
	for range store.MaxTries {
		texts := p.texts()
		before, edited = now()
		if o = p.judge(before, store.Read(p.call.Plan)); edited || o.harmless() {
			return Outcome{}, nil
		}
		if o.back, err = p.putBack(texts); !errors.Is(err, store.ErrChanged) {
			return o, err
		}
	}
	return o, err
}

// texts returns the current text of the plan's files; nil: none that can be read.
func (p *Plan) texts() (all [][]byte) {
	for _, f := range p.files {
		data, _ := p.call.Plan.Project().Read(f.path, store.MaxSize)
		all = append(all, data)
	}
	return all
}

// putBack restores the files, unless one has changed since texts was read.
func (p *Plan) putBack(texts [][]byte) (back string, err error) {
	back = "ralph restored the plan"
	for i, text := range p.texts() {
		if !bytes.Equal(text, texts[i]) {
			return back, store.ErrChanged
		}
	}
	for i, f := range p.files {
		if texts[i] != nil && bytes.Equal(texts[i], f.data) {
			continue
		}
		if kept := p.call.keepAside(f.path, texts[i]); kept != "" {
			back += "; the other version is in " + kept + " (if you wrote it: use ralph task while a call runs)"
		}
		if err := f.write(p.call.Plan.Project(), f.data); err != nil {
			return back, err
		}
	}
	return back, nil
}

// takeOver puts the call's copy into the plan, unless it changes other tasks. now is the plan with all changes by
// people.
func (p *Plan) takeOver(now store.Plan) (o Outcome, err error) {
	f := p.files[0]
	in := p.call.Plan.Project()
	made, err := in.Read(p.copied, store.MaxSize)
	_ = in.Remove(p.copied)
	if err != nil {
		return o, nil // the call changed nothing, or put something else there
	}
	list, err := store.Parse(f.path, made, p.call.Plan.OptionalSections)
	is := seen(p.call.Plan, list)
	if err != nil {
		is = store.Plan{Known: true, Error: err.Error()}
	}
	if o = p.judge(p.before, is); !o.harmless() {
		o.made, _ = o.made.With(p.before, now)
		o.back = "ralph did not put it into the plan" + copyNote(p.call.keepAside(f.path, made))
		return o, nil
	}
	o = Outcome{Says: o.Says}
	if written, err := f.replace(p.call.Plan, made); written || err != nil {
		return o, err
	}
	kept := p.call.keepAside(f.path, made) // it may also have text between tasks
	if left := p.mergeCopy(made); len(left) > 0 {
		o.Left = "the plan changed while the call worked on a copy, so ralph could not merge this: " +
			strings.Join(left, ", ") + copyNote(kept)
	}
	return o, nil
}

func (o Outcome) harmless() bool { return len(o.Touched) == 0 && o.Broken == "" }

// judge finds the other tasks that a plan changes, or why nobody can use it.
func (p *Plan) judge(before, made store.Plan) Outcome {
	if len(made.List.Tasks) == 0 && len(before.List.Tasks) > 0 && made.Error == "" {
		made.Error = "it has no tasks any more"
	}
	if made.Error != "" {
		return Outcome{Broken: made.Error}
	}
	own := p.call.Task
	o := Outcome{Says: made.IsDone(own.ID), made: made, added: added(before.List.Tasks, made.List.Tasks)}
	if p.inside && !audit.AsksForPlan(audit.TextOf(own)) {
		o.Touched = others(before.List.Tasks, made.List.Tasks, own.ID, !p.checks)
	}
	return o
}

// others returns the tasks that a plan lacks or changes, except the call's own, those below
// it, and the states of its parents. With ticks, a tick is no such change: the audit looks for its work.
func others(before, after []task.Task, own string, ticks bool) (all []task.Task) {
	parents, below := family(before, own)
	at := task.Index(after)
	for i, was := range before {
		j, stays := at[was.ID]
		switch {
		case slices.Contains(below, i):
		case !stays, !was.AsksSame(after[j]),
			was.State != after[j].State && !slices.Contains(parents, i) && !(ticks && was.Pending() && after[j].Done()):
			all = append(all, was)
		}
	}
	return all
}

// Touches reports whether a plan lacks or changes other tasks than the call's own.
func Touches(before, after store.Plan, own string) bool {
	return len(others(before.List.Tasks, after.List.Tasks, own, false)) > 0
}

// family returns the parents of a task, and the task itself with those below it.
func family(tasks []task.Task, id string) (parents, below []int) {
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
			parents, depth = append(parents, i), tasks[i].Depth
		}
	}
	return parents, below
}

// copyNote says where the call's copy is kept; empty: nowhere.
func copyNote(kept string) string {
	if kept == "" {
		return ""
	}
	return "; the call's version is in " + kept
}

// maxAside limits how many versions of one file an iteration keeps: a call and its checks may both have changed it.
const maxAside = 20

// keepAside keeps a text that does not count, and returns its path; empty: it is not kept.
func (c Call) keepAside(path string, text []byte) string {
	if c.Logs == "" || len(text) == 0 {
		return ""
	}
	to, _ := state.RunLogs{Dir: c.Logs}.KeepMore(fmt.Sprintf("%d.%s", c.Iteration, filepath.Base(path)), string(text), maxAside)
	return to
}

// write writes the file, and replaces what the call put in its place.
func (f file) write(in projectfs.Dir, data []byte) error {
	err := in.MkdirAll(filepath.Dir(f.path), 0o755)
	if err == nil && !in.IsPlain(f.path) {
		err = in.Clear(f.path)
	}
	if err == nil {
		err = in.Write(f.path, data, f.mode)
	}
	if err != nil {
		return fmt.Errorf("restore plan: %w", err)
	}
	return nil
}

// replace writes the file if it has not changed.
func (f file) replace(plan store.File, text []byte) (written bool, err error) {
	unlock, err := store.LockPlan(plan.Path)
	if err != nil {
		return false, err
	}
	defer unlock()
	if now, err := plan.Project().Read(f.path, store.MaxSize); err != nil || !bytes.Equal(now, f.data) {
		return false, nil // a person has changed it, and that counts
	}
	return true, f.write(plan.Project(), text)
}

// Made returns the plan as the call made it: now, unless ralph replaced it.
func (o Outcome) Made(now store.Plan) store.Plan {
	if o.made.Known {
		return o.made
	}
	return now
}

// Findings adds a finding for each other task that has none yet. Answer says what ralph did about it.
func (o Outcome) Findings(all []audit.Finding) []audit.Finding {
	for _, t := range o.Touched {
		if !slices.ContainsFunc(all, func(f audit.Finding) bool { return f.Task == t.ID }) {
			all = append(all, audit.Finding{Kind: audit.KindTaskChanged, Task: t.ID, Doubt: true,
				Text: fmt.Sprintf("the task %q was changed, and the iteration was for another one", t.Title)})
		}
	}
	if o.Broken != "" {
		all = append(all, audit.Finding{Kind: audit.KindTaskChanged, Doubt: true, Text: "the call left a plan that cannot be used: " + o.Broken + "; " + o.back})
	}
	if len(o.Forged) > 0 {
		all = append(all, audit.Finding{Kind: audit.KindStateChanged,
			Text: "the call changed files that are not its own: " + strings.Join(o.Forged, ", ")})
	}
	return all
}

// Answer returns what ralph did about a finding; empty: nothing.
func (o Outcome) Answer(f audit.Finding) string {
	if f.Kind == audit.KindStateChanged {
		return "ralph restored it" + o.aside
	}
	if f.Task != "" && len(o.Touched) > 0 {
		return o.back + o.lost()
	}
	return ""
}

// Mark is a task that an agent marked so that nobody would work on it, and why the mark does not count.
type Mark struct{ Task, Why string }

// Held returns the tasks that the agent marked so that nobody would work on them. own is true if it marked its own task
// as blocked, which it may do.
func (o Outcome) Held(before, left store.Plan, id string) (marks []Mark, own bool) {
	was := task.Index(before.List.Tasks)
	for _, t := range o.Made(left).List.Tasks {
		i, known := was[t.ID]
		if t.State != task.Blocked || !known || before.List.Tasks[i].State == task.Blocked ||
			!before.List.Tasks[i].Pending() {
			continue
		}
		switch {
		case t.Word != "":
			marks = append(marks, Mark{t.ID, misspelt(t, left.List.Warnings)})
		case t.ID == id:
			own = true
		default:
			marks = append(marks, Mark{t.ID, "it was marked as blocked in the iteration of another task"})
		}
	}
	return marks, own
}

// misspelt returns what is wrong with the state that the agent wrote.
func misspelt(t task.Task, warnings []string) string {
	for _, text := range warnings {
		if strings.Contains(text, fmt.Sprintf("line %d", t.Line)) && strings.Contains(text, t.Word) {
			return "the agent left this: " + text
		}
	}
	return fmt.Sprintf("the agent marked it %q", t.Word)
}

// Watched returns the paths that change with the plan: its files, and the folder that has them. None: there
// is no plan, or a program keeps it.
func Watched(f store.File, plan store.Plan) []string {
	info, err := os.Stat(f.Path)
	switch {
	case err != nil || info.IsDir() && Paths(f, plan)[0] == f.Path:
		return nil
	case info.IsDir():
		return append(Paths(f, plan), f.Path)
	}
	return Paths(f, plan)
}

// Paths returns the files of the plan.
func Paths(f store.File, plan store.Plan) (all []string) {
	dir, names := f.Path, plan.List.Files
	switch {
	case slices.Contains(names, path.Base(f.Name)): // the plan is one of the files
		dir = filepath.Dir(f.Path)
	case len(names) == 0:
		for _, t := range plan.List.Tasks { // of a folder with one file
			if t.File != "" && !slices.Contains(names, t.File) {
				names = append(names, t.File)
			}
		}
	}
	for _, name := range names {
		all = append(all, filepath.Join(dir, filepath.FromSlash(name)))
	}
	if len(all) == 0 && f.Path != "" {
		return []string{f.Path}
	}
	return all
}

// Roots returns the paths that contain the plan: a folder, or its files.
func Roots(f store.File, plan store.Plan) []string {
	if info, err := os.Stat(f.Path); f.Path == "" || err == nil && info.IsDir() {
		return slices.DeleteFunc([]string{f.Path}, func(path string) bool { return path == "" })
	}
	return Paths(f, plan)
}

// mergeCopy merges the call's copy of the plan into the plan, which somebody else has changed meanwhile: the call's own
// task, and new tasks. It returns a phrase for each thing that it could not merge.
func (p *Plan) mergeCopy(made []byte) (left []string) {
	f, own := p.call.Plan, p.call.Task
	list, err := store.Parse(f.Path, made, f.OptionalSections)
	if err != nil {
		return []string{"all of it"}
	}
	is, known := list.Find(own.ID)
	if !known || !p.mergeOwnTask(made, is.State == own.State && is.Wording() == own.Wording()) {
		left = append(left, fmt.Sprintf("what it says about %q", own.Title))
	}
	_, below := family(list.Tasks, own.ID)
	for i, t := range list.Tasks {
		now := store.Read(f).List
		if _, old := p.before.List.Find(t.ID); old || slices.Contains(below, i) {
			continue
		}
		if _, there := now.Find(t.ID); there {
			continue
		}
		added := t
		if known { // else it may be the call's own task, renamed
			added, err = store.Add(f, t.Title)
		}
		if !known || err != nil || added.State != t.State || added.Wording() != t.Wording() {
			left = append(left, fmt.Sprintf("all of the new task %q", t.Title))
		}
	}
	return left
}

// mergeOwnTask merges the call's own task, or at least its state. It reports whether it could merge all of it.
func (p *Plan) mergeOwnTask(made []byte, same bool) bool {
	f, own := p.call.Plan, p.call.Task
	path := f.Path
	trim := func(text string, err error) string { return strings.TrimRight(text, "\r\n") }
	base, now := trim(store.TextIn(path, p.files[0].data, own)), trim(store.TextIn(path, made, own))
	whole, err := store.Text(f, own)
	switch theirs := trim(whole, err); {
	case base == now && same:
		return true
	case base != "" && base == theirs: // nobody else has changed it
		if _, err := store.Replace(f, own, whole, now+whole[len(theirs):]); err == nil {
			return true
		}
	}
	list, err := store.Parse(path, made, nil)
	to, known := list.Find(own.ID)
	if err != nil || !known {
		return false
	}
	if to.State != own.State {
		err = store.Restore(f, own, to)
	}
	_, was, _ := strings.Cut(base, "\n") // the tasks below it, and notes
	_, is, _ := strings.Cut(now, "\n")
	return err == nil && to.Wording() == own.Wording() && is == was
}

// added returns the titles of the tasks that only the second plan has.
func added(before, after []task.Task) (titles []string) {
	at := task.Index(before)
	for _, t := range after {
		if _, was := at[t.ID]; !was {
			titles = append(titles, t.Title)
		}
	}
	return titles
}

// lost names the new tasks that were dropped with the call's other changes; empty: none.
func (o Outcome) lost() string {
	if len(o.added) == 0 {
		return ""
	}
	return fmt.Sprintf("; new tasks were dropped with it. To keep them, add them yourself: %q", o.added)
}
