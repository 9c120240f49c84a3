package state

import (
	"path/filepath"
	"testing"
)

// Scripts written for other ralphs test these words.
func TestSaveStatus_lastAction_isAWordThatScriptsKnow(t *testing.T) {
	w := acquire(t, filepath.Join(t.TempDir(), DirName))
	for want, s := range map[string]Status{
		"executing":            {Status: StatusRunning},
		"api_limit":            {Status: StatusWaiting, Rule: "usage_limit"},
		"api_limit_exit":       {Status: StatusStopped, ExitReason: "usage_limit"},
		"circuit_breaker_open": {Status: StatusHalted, ExitReason: "stagnation_detected"},
		"permission_denied":    {Status: StatusHalted, ExitReason: "permission_denied"},
		"integrity_failure":    {Status: StatusHalted, ExitReason: "integrity_failure"},
		"interrupted":          {Status: StatusStopped, ExitReason: "aborted"},
		"failed":               {Status: StatusFailed, ExitReason: "agent_unusable"},
		"graceful_exit":        {Status: StatusCompleted, ExitReason: "plan_complete"},
	} {
		if err := w.SaveStatus(s); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Status(); got.LastAction != want || got.V != 1 || err != nil {
			t.Errorf("%s: %q, version %d, %v", s.ExitReason, got.LastAction, got.V, err)
		}
	}
}
