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

// What is still to come is nothing for a run that is over.
func TestOf_endedRun_forecastsNothing(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)
	for _, status := range []string{state.StatusRunning, state.StatusCompleted, state.StatusHalted, state.StatusStopped} {
		st := state.Status{RunID: "r", Status: status, StartedAt: now.Add(-time.Hour), Timestamp: now, Task: state.TaskStatus{Done: 3, Total: 9},
			EndsWhen: []state.Bound{{Name: state.BoundUntil, From: now.Add(-time.Hour), Most: 4 * 3600}}}
		m := &view.Model{Snapshot: view.Snapshot{Status: st, Alive: status == state.StatusRunning}.Settled()}
		m.Run.StartedAt = st.StartedAt
		v := Of(m, now)
		if said := v.Ends[0].Text + v.Plan.Ahead; strings.Contains(said, "left") != m.Alive || strings.Contains(said, "about") {
			t.Errorf("%s: %q", status, said)
		}
	}
}

func TestOf_findings_haveTheNumberThatAcceptTakes(t *testing.T) {
	m := &view.Model{Snapshot: view.Snapshot{Status: state.Status{RunID: "r", Status: state.StatusRunning,
		Review: []state.ReviewItem{{N: 1, Text: "a_test.go is gone"}, {N: 2, Text: "the check is\nweaker"}}}, Alive: true}.Settled()}
	m.Run.Notes = []view.Note{{Text: "checks: the check is weaker (Makefile)"}, {Text: "audit: a_test.go is gone"}, {Text: "task 3 was put aside"}}
	var got []string
	for _, n := range Of(m, time.Now()).Notes {
		got = append(got, n.Text)
	}
	if want := "2. checks: the check is weaker (Makefile)|1. audit: a_test.go is gone|task 3 was put aside"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if m.Run.Notes[1].Text != "audit: a_test.go is gone" {
		t.Error("the model itself was changed")
	}
}

func TestOf_findingThatWasRepaired_isNotShownAtTheEnd(t *testing.T) {
	open := []state.ReviewItem{{Text: "a_test.go is gone", N: 1}}
	for _, test := range []struct {
		status string
		review []state.ReviewItem
		want   string
	}{
		{state.StatusRunning, nil, "audit: a_test.go is gone|checks were detected"},
		{state.StatusReview, open, "1. audit: a_test.go is gone|checks were detected"},
		{state.StatusCompleted, nil, "checks were detected"},
	} {
		m := &view.Model{Snapshot: view.Snapshot{Status: state.Status{RunID: "r", Status: test.status, Review: test.review}, State: test.status}}
		m.Run.Notes = []view.Note{{Text: "audit: a_test.go is gone", Kept: true}, {Text: "checks were detected"}}
		var got []string
		for _, n := range Of(m, time.Now()).Notes {
			got = append(got, n.Text)
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", test.status, got, test.want)
		}
	}
}

// What a check said when it failed is no news once it passes.
func TestOf_checkThatPassesNow_itsOlderFailuresAreNotShown(t *testing.T) {
	for result, want := range map[string]string{
		"passed": "checks: test: flaky, failed in one of two runs: TestB|checks: lint: 1 test fails: x",
		"failed": "checks: test: 1 test fails: TestA|checks: test: flaky, failed in one of two runs: TestB|checks: lint: 1 test fails: x",
	} {
		st := state.Status{RunID: "r", Status: state.StatusCompleted, Checks: []state.CheckStatus{{Name: "test", Result: result}}}
		m := &view.Model{Snapshot: view.Snapshot{Status: st, State: st.Status}}
		for _, text := range []string{"checks: test: 1 test fails: TestA", "checks: test: flaky, failed in one of two runs: TestB", "checks: lint: 1 test fails: x"} {
			m.Run.Notes = append(m.Run.Notes, view.Note{Text: text})
		}
		var got []string
		for _, n := range Of(m, time.Now()).Notes {
			got = append(got, n.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", result, got, want)
		}
	}
}
