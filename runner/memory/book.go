package memory

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/agent/statusblock"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Book gives a run the lessons of its project, and keeps what its turns teach. The zero value learns nothing and tells
// nothing.
type Book struct {
	project    string // empty: nothing is kept
	memoryFile bool   // lessons go into MEMORY.md, too
	Wrote      bool   // the latest Learn changed a file of the project outside .ralph
}

// Open returns the book of a project.
func Open(project string, c LessonOptions) *Book {
	if !c.Learn {
		project = ""
	}
	return &Book{project: project, memoryFile: c.MemoryFile}
}

// On reports whether lessons are kept.
func (b *Book) On() bool { return b.project != "" }

// For returns the lessons for the prompt of a task, the best first, and then the patterns that the project lists itself.
func (b *Book) For(t task.Task) (texts []string) {
	if b.project == "" {
		return nil
	}
	all, _ := Load(b.project) // a prompt can do without; Learn returns the error
	about := strings.Join(append([]string{t.Title, t.Description, t.Notes}, t.Criteria...), "\n")
	for _, l := range rank(all, about) {
		texts = append(texts, l.Text)
	}
	size := 0
	for i, text := range append(texts, others(b.project, all)...) {
		if size += len(text) + len("> - \n"); size > maxPrompt {
			break
		}
		texts = append(texts[:i], text)
	}
	return texts
}

// Learn adds the lessons of a turn. It returns findings about texts that it refused.
func (b *Book) Learn(res turn.Result, now time.Time) (refused []state.Finding, err error) {
	b.Wrote = false
	if b.project == "" || !res.Call.Made || !accepted(res) {
		return nil, nil
	}
	files := b.changed(res)
	was, err := Load(b.project)
	if err != nil {
		return nil, err
	}
	all, learnings := slices.Clone(was), statusblock.Learnings(res.Call.Final)
	for _, text := range learnings[:min(len(learnings), maxPerTurn)] {
		l := New(logs.Redact(text), now)
		if why := Refuse(l.Text); why != "" {
			refused = append(refused, state.Finding{Source: state.FoundByAudit, Name: "refused_lesson",
				Task: res.Task.ID, Doubt: true,
				Text: fmt.Sprintf("ralph refused a lesson of the agent because %s: %q", why, l.Text)})
		} else if l.Text != "" {
			l.Turns = []Turn{{Run: res.Origin.Run, Iteration: res.Origin.Iteration}}
			l.Task, l.Evidence, l.Paths = cmp.Or(res.Task.Title, "no task"), evidence(res), files[:min(len(files), 20)]
			all, _ = Add(all, l)
		}
	}
	b.Wrote, err = save(b.project, was, all, b.memoryFile)
	return refused, err
}

// accepted reports whether a turn may teach something: ralph refused and undid none of its work, and no required check
// fails. If a reviewer refuses it later, Forget removes what it taught.
func accepted(res turn.Result) bool {
	p := res.Proof
	return res.Cut == "" && res.Call.Outcome.Class.Success() && res.Work.Lost == "" &&
		!p.Unchecked && !p.Report.Blocked() && !p.Refused && !p.Unearned &&
		!slices.ContainsFunc(p.Reopen, func(o turn.Reopen) bool { return o.By != turn.ReopenReview })
}

// changed returns the changed files that a lesson can be about. It leaves out the plan, in which every turn ticks a
// task, the files for progress and lessons, and names that Refuse does not allow in a lesson.
func (b *Book) changed(res turn.Result) []string {
	plan := res.Proof.After.List.Path
	if rel, err := filepath.Rel(b.project, plan); err == nil && filepath.IsAbs(plan) {
		plan = rel
	}
	plan = filepath.ToSlash(plan)
	return slices.DeleteFunc(slices.Clone(res.Work.Change.Files), func(f string) bool {
		return f == plan || strings.HasPrefix(f, plan+"/") || f == memoryFile || slices.Contains(progressFiles(), f) ||
			Refuse(f) != ""
	})
}

// evidence says why ralph believed a turn.
func evidence(res turn.Result) string {
	var names []string
	for _, r := range res.Proof.Report.Results {
		names = append(names, r.Name)
	}
	return "the turn was accepted; checks: " + cmp.Or(strings.Join(names, ", "), "the project has none")
}

// Forget removes the lessons that only this turn taught. wrote is true if it changed a file of
// the project outside .ralph.
func (b *Book) Forget(run string, iteration int) (wrote bool, err error) {
	if b.project == "" {
		return false, nil
	}
	_, wrote, err = Undo(b.project, Turn{run, iteration})
	return wrote, err
}
