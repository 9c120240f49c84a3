package rules

import (
	"testing"

	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/turn"
	"ralph/state"
)

func TestVerify_turnThatSaysNothing_leavesTheContradiction(t *testing.T) {
	done := turn.Plan{Known: true, Done: 2, Total: 2}
	blocked := busy(1)
	blocked.Proof.After, blocked.Call.Signalled, blocked.Call.Signal = done, true, statusblock.Signal{Status: statusblock.Blocked, Recommendation: "no key"}
	before := fold(fresh(), defaults(), blocked)
	for name, set := range map[string]func(*turn.Result){
		"a usage limit": func(r *turn.Result) { r.Call.Outcome.Class = ending.UsageLimit },
		"a skip":        func(r *turn.Result) { r.Cut = state.RequestSkip },
	} {
		r := busy(2)
		r.Proof.After = done
		set(&r)
		if m := fold(before, defaults(), r); m.Contradiction != before.Contradiction {
			t.Errorf("%s: contradiction %q, want %q", name, m.Contradiction, before.Contradiction)
		}
	}
	overloaded := busy(2)
	overloaded.Proof.After, overloaded.Call.Outcome.Class = done, ending.Overloaded
	if m := fold(before, defaults(), overloaded); m.Verified {
		t.Errorf("a retry that costs nothing used the verifying turn up: %+v", m)
	}
}
