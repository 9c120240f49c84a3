package historycmd

import (
	"fmt"
	"os"
	"time"

	"ralph/runner/git/history"
	"ralph/runner/ledger"
	"ralph/runner/rules"
	"ralph/runner/task/store"
	"ralph/state"
)

// undoneReason is the exit reason of a run that was completed until a person took a part
// of it back.
const undoneReason = "undone"

// lock keeps runs from starting while files change.
func (a *verbs) lock(dir string) (*state.Writer, error) {
	w, aside, err := state.Acquire(dir, state.Owner{PID: os.Getpid(), RunID: "undo", StartedAt: time.Now()})
	for _, e := range aside {
		a.Warn(e)
	}
	return w, err
}

// tell notes in status.json that iterations were undone. A completed run is complete no
// longer; every other end stays.
func (a *verbs) tell(w *state.Writer, p *past, all []history.Kept) error {
	s, err := w.Status()
	if err != nil || s.RunID == "" {
		return err
	}
	what := history.Request{Iterations: all}.Name()
	if all[0].Run != s.RunID {
		what += " of run " + all[0].Run
	}
	if len(all) == 1 {
		what += " was undone"
	} else {
		what += " were undone"
	}
	complete := s.Ending() == state.EndingComplete // what was said of it is not so any more
	if s.Reason != "" && !complete {
		what = s.Reason + "; " + what
	}
	s.Reason = what
	if complete {
		s.Status, s.ExitReason, s.Rule, s.ExitCode = state.StatusStopped, undoneReason, undoneReason, rules.ExitInterrupted
		s.Next = "ralph resume"
		if s.MaxIterations > 0 && s.LoopCount >= s.MaxIterations { // it would end at once
			s.Next = fmt.Sprintf("ralph resume %d", s.LoopCount+len(all))
		}
	}
	if list, err := store.Load(p.plan(all[0]), a.optionalSections(p.dir)); err == nil {
		s.Task.Done, s.Task.Total = list.Done(), list.Total()
		if next, open := ledger.Next(w.Reader, list); open {
			s.Task.ID, s.Task.Title = next.ID, next.Title
		}
	}
	return w.SaveStatus(s)
}

func (a *verbs) optionalSections(dir string) []string {
	cfg, _, err := a.Loader(dir, nil).Load()
	if err != nil {
		return nil // the sections that are optional anyway
	}
	return cfg.OptionalSections
}
