package historycmd

import (
	"fmt"

	"ralph/runner/git/history"
	"ralph/runner/task/store"
	"ralph/runner/taskrecords"
	"ralph/state"
)

// tell records in status.json that iterations were undone. How the run ended does not change.
func (o *undoOptions) tell(w *state.Writer, p *past, all []history.Kept) error {
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
	if s.Ending() == state.EndingUndone {
		s.Next = "ralph resume"
		if s.MaxIterations > 0 && s.LoopCount >= s.MaxIterations { // it would end at once
			s.Next = fmt.Sprintf("ralph resume %d", s.LoopCount+len(all))
		}
	}
	if list, err := store.Load(p.plan(all[0]), o.optionalSections(p.dir)); err == nil {
		s.Task.Done, s.Task.Total = list.Done(), list.Total()
		if next, open := taskrecords.Next(w.Reader, list); open {
			s.Task.ID, s.Task.Title = next.ID, next.Title
		}
	}
	return w.SaveStatus(s)
}

func (o *undoOptions) optionalSections(dir string) []string {
	cfg, _, err := o.Loader(dir, nil).Load()
	if err != nil {
		return nil // the built-in list of optional sections
	}
	return cfg.OptionalSections
}
