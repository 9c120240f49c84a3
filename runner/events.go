package runner

import (
	"time"

	"ralph/runner/output"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// tell reports an event of the run itself.
func (r *Run) tell(p state.Payload) { r.tellOf(r.last.Task, p) }

func (r *Run) tellOf(t task.Task, p state.Payload) {
	r.out.Event(state.NewEvent(r.origin(t), time.Now(), turn.Redacted(p)))
}

// handleEvent takes an event of a turn. It updates status.json and passes the event on.
func (r *Run) handleEvent(e state.Event) {
	if d, ok := e.Data.(state.Phase); ok && d.Name == state.PhaseAgent {
		if err := r.counted.Wait(); err != nil {
			r.inbox.Fail(err) // a call that cannot be counted must not be made
			r.crew.Stop("", state.RequestAbort)
		}
	} else if ok && d.Name == state.PhaseObserving {
		r.repairState()
	}
	if d, ok := e.Data.(state.Limit); ok {
		r.pool.Pace.Note(callKey(e.Origin), d)
	}
	r.out.Status(func(s *state.Status) { output.ShowEvent(s, e.Data, r.mem.Usage, r.calls.Tokens) })
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
	r.past.lostState = lost
}
