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

// Book has the lessons that a run knows. The zero value learns nothing and tells nothing.
type Book struct {
	project string // empty: nothing is kept
	sync    bool   // into MEMORY.md
	err     error
	all     []memory.Lesson
	given   []string            // ids of the lessons in the latest prompt
	touched map[string][]string // files that the attempts at a task changed
	failed  map[string]string   // what failed last for a task
	Wrote   bool                // the latest Learn changed a file of the project outside .ralph
}

// Open reads the lessons of a project. A run works without them, so Learn returns the error.
func Open(project string, c LessonOptions) *Book {
	b := &Book{sync: c.MemoryFile, touched: map[string][]string{}, failed: map[string]string{}}
	if !c.Learn {
		return b
	}
	if b.all, b.err = Load(project); b.err == nil {
		b.project = project
	}
	return b
}

// For returns the lessons for the prompt of a task, the best first. It remembers them, so that Learn
// can count which were used.
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

// reload reads what people have changed meanwhile.
func (b *Book) reload() {
	if all, err := Load(b.project); err == nil {
		b.all = all
	}
}

// Accepted reports whether a turn may teach something: ralph refused and undid none of its work, and no required check
// fails. If a reviewer refuses it later, Forget removes what it taught.
func Accepted(res turn.Result) bool {
	p := res.Proof
	return res.Call.Made && res.Cut == "" && res.Call.Outcome.Class.Success() && res.Work.Lost == "" &&
		!p.Unchecked && !p.Report.Blocked() && !p.Refused && !p.Unearned &&
		!slices.ContainsFunc(p.Reopen, func(o turn.Reopen) bool { return o.By != turn.ReopenReview })
}

// Learn adds the lessons of a turn. It returns findings about texts that it refused.
func (b *Book) Learn(res turn.Result, now time.Time) ([]state.Finding, error) {
	b.Wrote = false
	if err := b.err; err != nil {
		b.err = nil // report it only once
		return nil, err
	}
	if b.project == "" || !res.Call.Made {
		return nil, nil
	}
	id, files := res.Task.ID, b.lessonFiles(res)
	b.touched[id] = append(b.touched[id], files...)
	if blocking := res.Proof.Report.Blocking(); len(blocking) > 0 {
		b.failed[id] = fmt.Sprintf("%s failed with: %s", blocking[0].Name, blocking[0].FirstLine())
	}
	if !Accepted(res) {
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
				Text:  fmt.Sprintf("ralph refused a lesson of the agent because %s: %q", why, l.Text)})
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
	memory.MarkUsed(b.all, b.given, id, memory.Query{Touched: files, Now: now})
	for _, text := range memory.Extract(res.Call.Final) {
		add(text, memory.Pattern)
	}
	if failure := b.failed[id]; failure != "" && res.Proof.Report.Results != nil && len(files) > 0 {
		add(failure+"; it passed after a change to "+strings.Join(files[:min(len(files), 3)], ", "), memory.Failure)
	}
	delete(b.failed, id)
	if len(b.all) == 0 && len(was) == 0 {
		return refused, nil
	}
	var err error
	b.Wrote, err = save(b.project, was, b.all, b.sync)
	return refused, err
}

// lessonFiles returns the changed files that a lesson can be about. It leaves out the plan, in which every turn ticks a
// task, the files for progress and lessons, and names that Refuse does not allow in a lesson.
func (b *Book) lessonFiles(res turn.Result) []string {
	plan := res.Proof.After.List.Path
	if rel, err := filepath.Rel(b.project, plan); err == nil && filepath.IsAbs(plan) {
		plan = rel
	}
	plan = filepath.ToSlash(plan)
	return slices.DeleteFunc(slices.Clone(res.Work.Change.Files), func(f string) bool {
		return f == plan || strings.HasPrefix(f, plan+"/") || f == memoryFile || slices.Contains(progressFiles(), f) ||
			memory.Refuse(f) != ""
	})
}

// evidence says why ralph believed a turn.
func evidence(res turn.Result) string {
	var names []string
	for _, r := range res.Proof.Report.Results {
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		return "the turn was accepted; the project has no checks"
	}
	return "the turn was accepted; checks: " + strings.Join(names, ", ")
}

// Forget removes the lessons that only this turn taught. wrote is true if it changed a file of
// the project outside .ralph.
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

// Undo removes the lessons that only this turn taught, also from the archives of branches. It returns how many
// it removed from the current memory.
func Undo(project string, t memory.Turn) (int, error) {
	if err := undoArchived(project, t); err != nil {
		return 0, err
	}
	all, err := Load(project)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	left := memory.Without(all, t)
	same := func(a, b memory.Lesson) bool { return a.ID == b.ID && len(a.Turns) == len(b.Turns) }
	if slices.EqualFunc(left, all, same) {
		return 0, nil
	}
	// The undo may have removed lines of lessons that stay from the project's files: Save adds them again.
	shown := slices.DeleteFunc(slices.Clone(all), func(l memory.Lesson) bool {
		return slices.Contains(l.Turns, t) && slices.ContainsFunc(left, func(o memory.Lesson) bool {
			return o.ID == l.ID
		})
	})
	_, err = Save(project, shown, left)
	return len(all) - len(left), err
}
