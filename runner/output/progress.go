package output

import (
	"time"

	"ralph/state"
)

// ShowPhase puts what a turn does now into the status.
func ShowPhase(s *state.Status, p state.Phase) {
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

// ShowCheck puts the result of a check into the status.
func ShowCheck(s *state.Status, check state.Check) {
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
