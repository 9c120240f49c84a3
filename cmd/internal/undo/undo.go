// Package undo carries out an undo that a user has agreed to, so that it happens completely or not at all: it records
// the undo in git and in .ralph, and finishes or takes back one that was killed.
package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ralph/cmd/internal/config"
	"ralph/runner/git"
	"ralph/runner/git/history"
	"ralph/runner/ledger"
	"ralph/runner/memory"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
)

// Boxes are those of the tasks that an undo opens again: their work is gone.
type Boxes struct {
	Plan  store.File
	Tasks []task.Task // as they were
}

// before is what status.json said before an undo.
type before struct {
	Run    string
	Undone int
}

// Prepare completes the request with what Recover needs.
func Prepare(r *history.Request, l config.Loader, w *state.Reader, boxes Boxes) error {
	r.Journal = l.UndoPath()
	if len(boxes.Tasks) > 0 {
		var err error
		if r.Box, err = json.Marshal(boxes); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
		r.Reopen = func() error { return set(boxes.Plan, boxes.Tasks, func(task.Task) task.State { return task.Open }) }
		r.Restore = func() error { return set(boxes.Plan, boxes.Tasks, func(was task.Task) task.State { return was.State }) }
	}
	s, err := w.Status()
	if err == nil {
		r.Status, err = json.Marshal(before{s.RunID, s.Undone})
	}
	return err
}

// set gives tasks of a plan another state. A change of one may move the others, so each is read anew.
func set(plan store.File, tasks []task.Task, to func(was task.Task) task.State) error {
	for _, was := range tasks {
		list, err := store.Load(plan)
		if err != nil {
			return err
		}
		if t, known := list.Find(was.ID); known && t.State != to(was) {
			if err := store.Set(plan, t, to(was)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Shield keeps signals from ending this process, because an undo takes only a fraction of a second.
func Shield() (stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	return func() { signal.Stop(ignored) }
}

// Do undoes what the user has agreed to, and records it for status and resume. forgotten is how many lessons are gone. Until
// the caller closes u, Recover finishes it again.
func Do(ctx context.Context, w *state.Writer, l config.Loader, u *history.Undo) (
	done git.Committed, forgotten int, err error) {
	all := u.Iterations()
	if done, err = u.Do(ctx); err != nil {
		return done, 0, err
	}
	if err := tell(w, l, all); err != nil {
		return done, 0, err
	}
	forgotten, err = forget(l.Dir, all)
	return done, forgotten, err
}

func forget(project string, all []history.Kept) (n int, err error) {
	for _, k := range all {
		some, _, err := memory.Undo(project, memory.Turn{Run: k.Run, Iteration: k.Iteration})
		if err != nil {
			return n, err
		}
		n += some
	}
	return n, nil
}

// Recovered is what became of an undo that was killed.
type Recovered struct {
	Said       string         // one line; empty: there was none
	Iterations []history.Kept // that are undone now; nil: it was taken back
}

// Pending reports whether an undo in this project was killed.
func Pending(l config.Loader) bool {
	_, err := os.Lstat(l.UndoPath())
	return l.UndoPath() != "" && err == nil
}

// Recover finishes an undo that was killed after git had recorded it, and takes back any other.
func Recover(ctx context.Context, w *state.Writer, l config.Loader) (Recovered, error) {
	locked := git.Unlocked(l.Dir)
	if !Pending(l) {
		return Recovered{}, nil // another git holds the lock; verbs that need the index say so
	}
	if locked != nil {
		return Recovered{}, fmt.Errorf("an undo was killed, and ralph cannot finish it: %w", locked)
	}
	i, err := history.FindInterrupted(ctx, l.Dir, l.UndoPath())
	if i == nil {
		return Recovered{}, err
	}
	name := history.Request{Iterations: i.Iterations}.Name()
	if i.Done {
		var was before
		s, err := w.Status()
		if err == nil && json.Unmarshal(i.Status, &was) == nil && was == (before{s.RunID, s.Undone}) {
			err = tell(w, l, i.Iterations)
		}
		if err == nil {
			_, err = forget(l.Dir, i.Iterations)
		}
		return Recovered{"finished the undo of " + name + ", which was killed", i.Iterations}, errors.Join(err, i.Close())
	}
	said := "took back an undo of " + name + ", which was killed"
	if err := closeBoxes(i.Box); err != nil {
		said += fmt.Sprintf("; a box stays open: %v", err)
	}
	left, err := i.TakeBack(ctx)
	if len(left) > 0 {
		said += "; changed since, and left as they are: " + strings.Join(left, ", ")
	}
	return Recovered{Said: said}, err
}

// closeBoxes gives the tasks their state from before the undo.
func closeBoxes(text json.RawMessage) error {
	var b Boxes
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	if program, _ := store.ProgramOf(filepath.Dir(b.Plan.Path), b.Plan.Path); program != "" {
		return fmt.Errorf("%s has the tasks", program) // nobody may have agreed to run it now
	}
	return set(b.Plan, b.Tasks, func(was task.Task) task.State { return was.State })
}

// tell records in status.json that iterations were undone. How the run ended does not change. The
// baseline goes, so that no other task is blamed for what is red without their work.
func tell(w *state.Writer, l config.Loader, all []history.Kept) error {
	if err := w.ForgetBaseline(); err != nil {
		return err
	}
	s, err := w.Status()
	if err != nil || s.RunID == "" {
		return err
	}
	what := history.Request{Iterations: all}.Name()
	if all[0].Run != s.RunID {
		what += " of run " + all[0].Run
	}
	what += map[bool]string{true: " was undone", false: " were undone"}[len(all) == 1]
	switch {
	case s.Status == state.StatusCompleted && s.Undone == 0:
		what = "all was done, then " + what
	case s.Reason != "":
		what = s.Reason + "; " + what
	}
	s.Reason, s.Undone = what, s.Undone+len(all)
	if s.Proven {
		s.Proven, s.Unproven = false, state.Undone
	}
	for id, m := range s.Tasks {
		s.Tasks[id] = without(m, all)
	}
	if s.Ending() == state.EndingUndone {
		s.Next = "ralph resume"
		if s.MaxIterations > 0 && s.LoopCount >= s.MaxIterations { // it would end at once
			s.Next = fmt.Sprintf("ralph resume %d", s.LoopCount+len(all))
		}
	}
	var optional []string // nil: the built-in list of optional sections
	if cfg, _, err := l.Load(); err == nil {
		optional = cfg.OptionalSections
	}
	if list, err := store.Load(store.At(l.Dir, PlanOf(l.Dir, all[0]), optional)); err == nil {
		s.Task.Done, s.Task.Total = list.Done(), list.Total()
		if next, open := ledger.Next(w.Reader, list); open {
			s.Task.ID, s.Task.Title = next.ID, next.Title
		}
	}
	return w.SaveStatus(s)
}

// Gone reports whether work of a task was done in one of these iterations.
func Gone(m state.TaskMemory, all []history.Kept) bool {
	return slices.ContainsFunc(m.Work, func(w state.Work) bool { return among(w, all) })
}

func among(w state.Work, all []history.Kept) bool {
	return slices.ContainsFunc(all, func(k history.Kept) bool { return k.Run == w.Run && k.Iteration == w.Iteration })
}

// without is what is known of a task whose work in these iterations is gone.
func without(m state.TaskMemory, all []history.Kept) state.TaskMemory {
	if Gone(m, all) {
		m.Work = slices.DeleteFunc(slices.Clone(m.Work), func(w state.Work) bool { return among(w, all) })
		m.Done, m.Proof, m.CutOff = false, "", false
	}
	return m
}

// PlanOf is the path of the plan that iteration k worked on; empty: none.
func PlanOf(project string, k history.Kept) string {
	path := filepath.FromSlash(k.Plan)
	switch {
	case path == "": // the iteration was cut off, or had no plan
		path, _ = store.Find(project, nil)
		if program, _ := store.ProgramOf(project, ""); program != "" {
			path = "" // nobody may have agreed to run it
		}
	case !filepath.IsAbs(path):
		path = filepath.Join(project, path)
	}
	return path
}
