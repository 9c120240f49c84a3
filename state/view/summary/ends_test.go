package summary

import (
	"strings"
	"testing"
	"time"

	"ralph/state"
	"ralph/state/view"
)

func TestEnds_ofAnAgentWithoutCost_orOfAnEndedRun_sayOnlyWhatIsTrue(t *testing.T) {
	bounds := []state.Bound{{Name: state.BoundCost, Most: 20}, {Name: "test-only", Most: 3}, {Name: "iterations", Have: 2, Most: 50}}
	for name, test := range map[string]struct {
		status string
		loop   int
		want   string
	}{
		"nothing is reported yet":        {state.StatusRunning, 1, "iterations 2/50|cost $0.00/$20.00|test-only 0/3"},
		"iterations ended without costs": {state.StatusRunning, 2, "iterations 2/50|cost not reported, bound $20.00|test-only 0/3"},
		"the run has ended":              {state.StatusCompleted, 2, "iterations 2/50|cost not reported, bound $20.00"},
	} {
		st := state.Status{Status: test.status, LoopCount: test.loop, EndsWhen: bounds}
		var got []string
		for _, e := range ends(&view.Model{Snapshot: view.Snapshot{Status: st, State: test.status}}, time.Now()) {
			got = append(got, e.Text)
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
