package runner

import (
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"time"
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
		if d.Name == state.PhaseObserving {
			r.repairState()
		}
		r.out.Status(func(s *state.Status) { showPhase(s, d) })
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
		r.out.Status(func(s *state.Status) { showCheck(s, d) })
	}
	r.out.Event(e)
}

func showPhase(s *state.Status, p state.Phase) {
	s.Phase = p.Name
	if p.Name != state.PhaseChecking {
		return
	}
	s.LastTool = "check " + p.Check
	switch p.Run {
	case state.CheckAgain:
		s.LastTool += ", second run"
	case state.CheckBaseline:
		s.LastTool += ", before the work"
	}
	c := checkStatus(s, p.Check)
	c.Result, c.StartedAt = "running", time.Now()
}

func showCheck(s *state.Status, check state.Check) {
	c := checkStatus(s, check.Name)
	c.Result, c.Seconds = "passed", check.Seconds
	switch {
	case check.Passed:
		c.RedSince = time.Time{}
	default:
		c.Result = "failed"
		if c.RedSince.IsZero() {
			c.RedSince = time.Now()
		}
	}
}

// checkStatus finds the row of a check, and makes it the first time.
func checkStatus(s *state.Status, name string) *state.CheckStatus {
	for i := range s.Checks {
		if s.Checks[i].Name == name {
			return &s.Checks[i]
		}
	}
	s.Checks = append(s.Checks, state.CheckStatus{Name: name})
	return &s.Checks[len(s.Checks)-1]
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
