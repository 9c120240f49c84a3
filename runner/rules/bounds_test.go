package rules

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/state"
)

func TestWhen_boundsThatAreOff_areLeftOut(t *testing.T) {
	p := Policy{BreakerPolicy: BreakerPolicy{NoProgressThreshold: 3, SameErrorThreshold: 5, DenialThreshold: 2}, CompletionClaims: 2, MaxRetries: 3, MaxCost: 5}
	got := BoundsUsed(Facts{Policy: p, Memory: Memory{Breaker: state.Breaker{NoProgress: 1}, Claims: 1, TestOnly: 2}}, 4, 2)
	want := []state.Bound{{Name: "no progress", Have: 1, Most: 3}, {Name: "same error", Most: 5}, {Name: "denials", Most: 2}, {Name: "claims", Have: 1, Most: 2},
		{Name: "test-only", Have: 2, Most: 3}, {Name: "failed checks of this task", Have: 2, Most: 4}, {Name: "cost", Most: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhen_boundsOfTime_countFromTheStart(t *testing.T) {
	started := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		end  time.Time
		most time.Duration
		want []state.Bound
	}{
		{started.Add(9 * time.Hour), 0, []state.Bound{{Name: "until", Most: 9 * 3600, From: started}}},
		{time.Time{}, 4 * time.Hour, []state.Bound{{Name: "duration", Most: 4 * 3600, From: started}}},
		{started, 0, []state.Bound{{Name: "until", Most: 1, From: started}}},
	} {
		got := BoundsUsed(Facts{Policy: Policy{MaxDuration: test.most}, Started: started, End: test.end}, 0, 0)
		got = slices.DeleteFunc(got, func(b state.Bound) bool { return b.From.IsZero() })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v: %s", test.end, diff)
		}
	}
}
