package rules

import (
	"testing"

	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/turn"
)

func TestMemory_claims_areConsecutive(t *testing.T) {
	claiming := busy(1)
	claiming.Call.Signalled, claiming.Call.Signal = true, statusblock.Signal{Exit: true, HasExit: true}
	if m := fold(fresh(), defaults(), claiming, claiming); m.Claims != 2 {
		t.Errorf("claims = %d, want 2", m.Claims)
	}
	if m := fold(fresh(), defaults(), claiming, busy(2), claiming); m.Claims != 1 {
		t.Errorf("claims = %d after a break, want 1", m.Claims)
	}
	limited := idle(2)
	limited.Call.Outcome.Class = ending.UsageLimit
	if m := fold(fresh(), defaults(), claiming, limited, claiming); m.Claims != 2 {
		t.Errorf("claims = %d with a limit in between, want 2", m.Claims)
	}
	closing := claiming
	closing.Work.Before, closing.Proof.After = turn.Plan{Total: 4, Remaining: 3, Done: 1}, turn.Plan{Total: 4, Remaining: 2, Done: 2}
	if m := fold(fresh(), defaults(), claiming, closing); m.Claims != 0 {
		t.Errorf("claims = %d after a turn that closed a task and left others open, want 0", m.Claims)
	}
	closing.Proof.After = turn.Plan{Total: 4, Done: 4}
	if m := fold(fresh(), defaults(), closing); m.Claims != 1 {
		t.Errorf("claims = %d after a turn that closed the last task, want 1", m.Claims)
	}
}
