package lessons

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/memory"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Book is what a run knows. The zero value learns nothing and tells nothing.
type Book struct {
	project string // empty: nothing is kept
	sync    bool   // into MEMORY.md
	err     error
	all     []memory.Lesson
	given   []string            // ids of the lessons in the latest prompt
	touched map[string][]string // files that the attempts at a task changed
	failed  map[string]string   // what failed last for a task
	Wrote   bool                // the latest Learn changed a file of the project, outside of .ralph
}

// Open reads the lessons of a project. A run works without them: Learn returns the error.
func Open(project string, c Choice) *Book {
	b := &Book{sync: c.MemoryFile, touched: map[string][]string{}, failed: map[string]string{}}
	if !c.Learn {
		return b
	}
	if b.all, b.err = Load(project); b.err == nil {
		b.project = project
	}
	return b
}

// For are the texts for the prompt of a task, the best first. It remembers them, to know
// later which were of use.
func (b *Book) For(t task.Task, now time.Time) []string {
	if b.project == "" {
		return nil
	}
	b.reload()
	if len(b.all) == 0 {
		return nil
	}
	q := memory.Query{Text: strings.Join(append([]string{t.Title, t.Description, t.Notes}, t.Criteria...), "\n"),
		Touched: b.touched[t.ID], Now: now}
	b.given = nil
	var texts []string
	for _, l := range memory.Fit(memory.Rank(b.all, q)) {
		b.given = append(b.given, l.ID)
		texts = append(texts, l.Text)
	}
	return texts
}

// reload takes over what people have changed meanwhile.
func (b *Book) reload() {
	if all, err := Load(b.project); err == nil {
		b.all = all
	}
}

// Stood reports whether a turn counts: nothing of it was refused, undone or red. If a reviewer
// refuses it later, what it taught is forgotten then.
func Stood(res turn.Result) bool {
	p := res.Proof
	return res.Call.Made && res.Cut == "" && res.Call.Outcome.Class.Success() && res.Work.Lost == "" &&
		!p.Unchecked && !p.Report.Blocked() && !p.Refused && !p.Unearned &&
		!slices.ContainsFunc(p.Reopen, func(o turn.Reopen) bool { return o.By != turn.ReopenReview })
}

// Learn takes over what a turn reports as learned. It returns the findings about texts
// that were not kept.
func (b *Book) Learn(res turn.Result, now time.Time) ([]state.Finding, error) {
	b.Wrote = false
	if err := b.err; err != nil {
		b.err = nil // once is enough
		return nil, err
	}
	if b.project == "" || !res.Call.Made {
		return nil, nil
	}
	id, files := res.Task.ID, b.worth(res)
	b.touched[id] = append(b.touched[id], files...)
	if blocking := res.Proof.Report.Blocking(); len(blocking) > 0 {
		b.failed[id] = fmt.Sprintf("%s failed with: %s", blocking[0].Name, blocking[0].FirstLine())
	}
	if !Stood(res) {
		return nil, nil
	}
	b.reload()
	var refused []state.Finding
	was := slices.Clone(b.all)
	add := func(text string, kind memory.Kind) {
		l, ok := memory.New(logs.Redact(text), kind, now)
		if why := memory.Refuse(l.Text); ok && why != "" {
			refused = append(refused, state.Finding{Source: state.FoundByAudit, Name: "refused_lesson", Task: id,
				Doubt: true,
				Text:  fmt.Sprintf("a lesson of the agent was not kept, because %s: %q", why, l.Text)})
			return
		}
		if !ok {
			return
		}
		l.Turns, l.Task, l.Evidence = []memory.Turn{{Run: res.Origin.Run,
			Iteration: res.Origin.Iteration}}, cmp.Or(res.Task.Title, "no task"), evidence(res)
		l.Paths = files[:min(len(files), 20)]
		b.all, _ = memory.Add(b.all, l)
	}
	memory.Used(b.all, b.given, id, memory.Query{Touched: files, Now: now})
	for _, text := range memory.Extract(res.Call.Final) {
		add(text, memory.Pattern)
	}
	if failure := b.failed[id]; failure != "" && res.Proof.Report.Results != nil && len(files) > 0 {
		add(failure+"; it passed after a change of "+strings.Join(files[:min(len(files), 3)], ", "), memory.Failure)
	}
	delete(b.failed, id)
	if len(b.all) == 0 && len(was) == 0 {
		return refused, nil
	}
	var err error
	b.Wrote, err = save(b.project, was, b.all, b.sync)
	return refused, err
}

// worth are the changed files that a lesson can be about: not the plan, where each task that is done is ticked,
// nor the files where progress and lessons are noted, nor a name that no lesson may have.
func (b *Book) worth(res turn.Result) []string {
	plan := res.Proof.After.List.Path
	if rel, err := filepath.Rel(b.project, plan); err == nil && filepath.IsAbs(plan) {
		plan = rel
	}
	plan = filepath.ToSlash(plan)
	return slices.DeleteFunc(slices.Clone(res.Work.Change.Files), func(f string) bool {
		return f == plan || strings.HasPrefix(f, plan+"/") || f == memoryFile || slices.Contains(progressFiles(), f) || memory.Refuse(f) != ""
	})
}

// evidence says why a turn was believed.
func evidence(res turn.Result) string {
	var names []string
	for _, r := range res.Proof.Report.Results {
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		return "the turn stood; the project has no checks"
	}
	return "the turn stood; checks: " + strings.Join(names, ", ")
}

// Forget forgets what only a turn of this number taught. wrote is true when it changed a file of
// the project, outside of .ralph.
func (b *Book) Forget(run string, iteration int) (wrote bool, err error) {
	if b.project == "" {
		return false, nil
	}
	b.reload()
	was := b.all
	b.all = memory.Without(was, memory.Turn{Run: run, Iteration: iteration})
	if len(was) == 0 {
		return false, nil
	}
	return save(b.project, was, b.all, b.sync)
}

// Undo forgets what only this turn taught, also in the archives of branches. It returns how many
// lessons of the present memory went.
func Undo(project string, t memory.Turn) (int, error) {
	if err := undoArchived(project, t); err != nil {
		return 0, err
	}
	all, err := Load(project)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	left := memory.Without(all, t)
	if slices.EqualFunc(left, all, func(a, b memory.Lesson) bool {
		return a.ID == b.ID &&
			len(a.Turns) == len(b.Turns)
	}) {
		return 0, nil
	}
	// The undo may have taken the lines of lessons that stay out of the project's files.
	shown := slices.DeleteFunc(slices.Clone(all), func(l memory.Lesson) bool {
		return slices.Contains(l.Turns, t) && slices.ContainsFunc(left, func(o memory.Lesson) bool { return o.ID == l.ID })
	})
	_, err = Save(project, shown, left)
	return len(all) - len(left), err
}
