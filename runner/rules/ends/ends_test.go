package ends

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/rules"
	"ralph/state"
)

func TestWhen_boundsThatAreOff_areLeftOut(t *testing.T) {
	p := rules.Policy{BreakerPolicy: rules.BreakerPolicy{NoProgressThreshold: 3, SameErrorThreshold: 5, DenialThreshold: 2}, CompletionClaims: 2, MaxRetries: 3, MaxCost: 5}
	got := When(p, rules.Memory{Breaker: state.Breaker{NoProgress: 1}, Claims: 1, TestOnly: 2}, 4, 2)
	want := []state.Bound{{Name: "no progress", Have: 1, Most: 3}, {Name: "same error", Most: 5}, {Name: "denials", Most: 2}, {Name: "claims", Have: 1, Most: 2},
		{Name: "test-only", Have: 2, Most: 3}, {Name: "failed checks of this task", Have: 2, Most: 4}, {Name: "cost", Most: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
