package runner

import (
	"time"

	"ralph/logs/termtext"
	"ralph/runner/output"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// tell reports something of the run itself.
func (r *Run) tell(p state.Payload) { r.tellOf(r.last.Task, p) }

func (r *Run) tellOf(t task.Task, p state.Payload) {
	r.out.Event(state.NewEvent(r.origin(t), time.Now(), turn.Redacted(p)))
}

// heard follows a turn: its events go into status.json, and on.
func (r *Run) heard(e state.Event) {
	switch d := e.Data.(type) {
	case state.Phase:
		switch d.Name {
		case state.PhaseAgent:
			if err := r.counted.Wait(); err != nil {
				r.inbox.Fail(err) // a call that is not counted is not made
			}
		case state.PhaseObserving:
			r.repairState()
		}
		r.out.Status(func(s *state.Status) { output.ShowPhase(s, d) })
	case state.SessionStart:
		r.out.Status(func(s *state.Status) {
			s.SessionID = d.ID
			if d.Model != "" {
				s.Model = d.Model
			}
		})
	case state.Tool:
		r.out.Status(func(s *state.Status) { s.LastTool = termtext.Line(d.Name + " " + d.Arg) })
	case state.Usage:
		r.out.Status(func(s *state.Status) {
			s.Usage = r.mem.Usage.Add(d)
			s.TokensThisHour = r.calls.Tokens + d.Total()
		})
	case state.Limit:
		r.out.Status(func(s *state.Status) { s.Limit = &d })
	case state.AgentError:
		r.out.Status(func(s *state.Status) { s.LastError = termtext.Line(d.Text) })
	case state.Check:
		r.out.Status(func(s *state.Status) { output.ShowCheck(s, d) })
	}
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
