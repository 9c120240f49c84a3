package ledger

// This file reads the plan for a run, and marks in the format's own words what became of a
// task.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state/projectfs"
)

// PlanBook is the plan of one run.
type PlanBook struct {
	Dir    string // the project
	File   store.File
	Counts store.Plan // that the latest turn, or the latest look, left
	Had    bool       // it had tasks earlier in this run

	Log     hclog.Logger
	Changed func() // called after the run itself has changed files of the project, so that no turn is credited with them

	pops     bool              // finished tasks leave the plan
	finished []string          // by this run, and still in the plan
	changes  map[string]change // the run's last change of a task of the plan, by id
}

type change struct {
	at time.Time
	to *task.State // nil: it left the plan
}

// NewPlanBook is the book of the plan at path; empty if there is none.
func NewPlanBook(dir, path string, o store.PlanOptions) PlanBook {
	b := PlanBook{Dir: dir, File: store.At(dir, path, o.OptionalSections).Remembered(), pops: o.PopTasks}
	b.File.View = o.View()
	return b
}

// Read is the plan as it is now.
func (b *PlanBook) Read() store.Plan {
	plan := store.Read(b.File)
	b.Had = b.Had || plan.Total > 0
	return plan
}

// Rel is a path as people know it: relative to the project when it is in it.
func (b *PlanBook) Rel(path string) string {
	if rel, in := below(b.Dir, path); in {
		return filepath.ToSlash(rel)
	}
	return path
}

// Within returns those of the files that are in a folder.
func Within(dir string, files ...string) (all []string) {
	for _, path := range files {
		if _, in := below(dir, path); in && path != "" {
			all = append(all, path)
		}
	}
	return all
}

func below(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// Pop notes that a task is finished, and takes what is finished out of the plan, if the user
// wants that: archived in a folder of dir first. What an open task depends on stays until then.
func (b *PlanBook) Pop(id, dir string) {
	if !b.pops {
		return
	}
	plan := b.Read()
	if plan.IsDone(id) && !slices.Contains(b.finished, id) {
		b.finished = append(b.finished, id)
	}
	b.finished = slices.DeleteFunc(b.finished, func(id string) bool {
		t, known := plan.List.Find(id)
		if !known || !t.Done() {
			return true // somebody else has taken it
		}
		needs := func(o task.Task) bool { return o.Pending() && slices.Contains(o.DependsOn, id) }
		if slices.ContainsFunc(plan.List.Tasks, needs) {
			return false
		}
		var kept []task.Task
		err := store.Remove(b.File, t, func(text string, gone []task.Task) error {
			kept = gone
			return archive(projectfs.In(b.Dir), filepath.Join(dir, "archive"),
				archivedPlan{time.Now(), b.File.Name, plan.List.Format, id, t.Title, text})
		})
		if err != nil {
			b.Log.Warn("a finished task stays in the plan", logs.KeyTask, id, logs.KeyError, err)
			return false
		}
		for _, t := range kept {
			t.Description, t.Notes, t.Criteria, t.Line = "", "", nil, 0
			b.File.Popped = append(b.File.Popped, t)
		}
		b.note(id, nil)
		return true
	})
}

// archivedPlan is a task that has left the plan: a line of archive/tasks.jsonl.
type archivedPlan struct {
	At     time.Time `json:"at"`
	Plan   string    `json:"plan"`
	Format string    `json:"format"`
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Text   string    `json:"text"` // as the plan had it, with what was below it
}

func archive(in projectfs.Dir, dir string, a archivedPlan) error {
	line, _ := json.Marshal(a) // plain values: it cannot fail
	var f *os.File
	err := in.MkdirAll(dir, 0o755)
	if err == nil {
		f, err = in.OpenFile(filepath.Join(dir, "tasks.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err != nil {
		return fmt.Errorf("archive task: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// Mark writes the state of a task into the plan, if the format has a word for it.
func (b *PlanBook) Mark(id string, s task.State) (changed bool) {
	changed, err := store.Mark(b.File, id, s)
	return b.wrote(id, &s, changed, err)
}

// wrote records a change that the run itself has made to the plan, or logs why it could not.
func (b *PlanBook) wrote(id string, to *task.State, changed bool, err error) bool {
	if err != nil {
		b.Log.Warn("the plan cannot be changed", logs.KeyTask, id, logs.KeyError, err)
	}
	if changed {
		b.note(id, to)
	}
	return changed
}

func (b *PlanBook) note(id string, to *task.State) {
	if b.changes == nil {
		b.changes = map[string]change{}
	}
	b.changes[id] = change{time.Now(), to}
	b.Changed()
}

// ChangedSince returns the states that the run has written since a moment, by the id of the task; nil: it took the task
// out of the plan.
func (b *PlanBook) ChangedSince(moment time.Time) map[string]*task.State {
	all := map[string]*task.State{}
	for id, c := range b.changes {
		if !c.at.Before(moment) {
			all[id] = c.to
		}
	}
	return all
}

// Judged writes what judges and checks said about a task into the plan, where it has a place for them.
func (b *PlanBook) Judged(t task.Task, results map[string]any) {
	if b.File.Path == "" {
		return
	}
	changed, err := store.SetResults(b.File, t, results)
	is, _ := b.Read().List.Find(t.ID)
	b.wrote(t.ID, &is.State, changed, err)
}

// Reopen takes back the mark of a task that is done, to what it said in an earlier plan, or
// gives it to review where the format has a word for that.
func (b *PlanBook) Reopen(id string, earlier store.Plan, review bool) (t task.Task, changed bool) {
	t, known := store.Read(b.File).List.Find(id)
	if !known || review && t.State == task.Review {
		return t, false
	}
	if review {
		if err := store.Set(b.File, t, task.Review); !errors.Is(err, task.ErrNoWord) {
			return t, b.wrote(id, new(task.Review), err == nil, err)
		}
	}
	was, known := earlier.List.Find(id)
	if !known || was.Done() {
		was = task.Task{} // open
	}
	err := store.Restore(b.File, t, was)
	return t, b.wrote(id, &was.State, err == nil, err)
}
