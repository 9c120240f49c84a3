package runner

import (
	"ralph/runner/output"
	"ralph/state"
)

// handleEvent takes an event of a turn. It updates status.json and passes the event on.
func (r *Run) handleEvent(e state.Event) {
	l := r.ledger
	switch d := e.Data.(type) {
	case state.Phase:
		if d.Name == state.PhaseObserving {
			r.repairState()
		}
		if d.Name == state.PhaseAgent {
			if err := l.WaitCounted(); err != nil {
				r.inbox.Fail(err) // a call that cannot be counted must not be made
				r.crew.Stop("", state.RequestAbort)
			}
		}
	case state.Limit:
		l.NoteUsage(e.Origin, d)
	}
	r.out.Status(func(s *state.Status) { output.ShowEvent(s, e.Data, l.Memory.Usage, l.Calls.Tokens) })
	r.out.Event(e)
}

// repairState makes the state directory whole again after an agent damaged it.
func (r *Run) repairState() {
	lost, err := r.d.State.Ensure()
	if err != nil {
		r.inbox.Fail(err)
		return
	}
	r.out.Reopen()
	r.ledger.StateLost = lost
}
