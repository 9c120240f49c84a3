package state

import (
	"path/filepath"
	"testing"
)

// Scripts written for other ralphs test these words.
func TestSaveStatus_lastAction_isAWordThatScriptsKnow(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), DirName))
	for _, c := range []struct {
		want string
		Status
	}{
		{"executing", Status{Status: StatusRunning}},
		{"api_limit", Status{Status: StatusWaiting, Rule: "usage_limit"}},
		{"api_limit_exit", Status{Status: StatusStopped, ExitReason: "usage_limit"}},
		{"circuit_breaker_open", Status{Status: StatusHalted, ExitReason: "stagnation_detected"}},
		{"permission_denied", Status{Status: StatusHalted, ExitReason: "permission_denied"}},
		{"integrity_failure", Status{Status: StatusHalted, ExitReason: "integrity_failure"}},
		{"interrupted", Status{Status: StatusStopped, ExitReason: "aborted"}},
		{"failed", Status{Status: StatusFailed, ExitReason: "agent_unusable"}},
		{"failed", Status{Status: StatusHalted, ExitReason: "a_rule_of_a_later_version"}},
		{"graceful_exit", Status{Status: StatusCompleted, ExitReason: "plan_complete"}},
	} {
		if err := w.SaveStatus(c.Status); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Status(); got.LastAction != c.want || got.V != 1 || err != nil {
			t.Errorf("%s: %q, version %d, %v", c.ExitReason, got.LastAction, got.V, err)
		}
	}
}
