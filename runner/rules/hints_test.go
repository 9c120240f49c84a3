package rules

import (
	"strings"
	"testing"

	"ralph/runner/agent/ending"
	"ralph/runner/turn"
)

// Smaller steps are advice for an agent that worked, not for one that never began.
func TestHints_timeout_onlyAnAgentThatWorkedIsToldToWorkInSmallerSteps(t *testing.T) {
	for class, want := range map[ending.Class]bool{ending.TimeoutIdle: true, ending.TimeoutWithWork: true, ending.HangSilent: false, ending.Auth: false} {
		var r turn.Result
		r.Call.Outcome.Class = class
		if got := strings.Contains(strings.Join(Hints(r, nil), "\n"), "smaller steps"); got != want {
			t.Errorf("%s: %v", class, got)
		}
	}
}
