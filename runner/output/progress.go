package output

import (
	"time"

	"ralph/state"
)

// ShowPhase puts what a turn does now into the status.
func ShowPhase(s *state.Status, p state.Phase) {
	s.Phase = p.Name
	if p.Name == state.PhaseHook {
		s.LastTool = "hook " + p.Check
	}
	if p.Name != state.PhaseChecking {
		return
	}
	s.LastTool = "check " + p.Check
	switch p.Run {
	case state.CheckAgain:
		s.LastTool += ", second run"
	case state.CheckBaseline:
		s.LastTool += ", before the work"
	case state.CheckOldTests:
		s.LastTool += ", in a copy, with old tests or other code"
		return // it says nothing about the check
	}
	c := checkStatus(s, p.Check)
	c.Result, c.StartedAt = "running", time.Now()
}

// ShowCheck puts the result of a check into the status.
func ShowCheck(s *state.Status, check state.Check) {
	if check.Run != state.CheckOldTests {
		checkStatus(s, check.Name).Ended(check, time.Now())
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
