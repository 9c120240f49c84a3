package rules

import (
	"testing"

	"ralph/runner/gate"
	"ralph/state"
)

func TestOnFailure_checkThatStopsTheRun_stopsItAlsoAtTheLastAttempt(t *testing.T) {
	f := usual()
	failing(&f)
	f.It.Task.ID, f.Attempts, f.Policy.MaxPerTask = "T1", 10, 10
	for i := range f.It.Proof.Report.Results {
		f.It.Proof.Report.Results[i].Check.OnFailure = gate.Stop
	}
	if d := f.decide(); d.Action != state.ActionStop {
		t.Errorf("%s %s: %s", d.Action, d.Rule, d.Reason)
	}
}
