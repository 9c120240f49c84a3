package reviewers

import (
	"fmt"
	"testing"

	"ralph/runner/roles"
	"ralph/state"
)

func TestMerge_reasonsOfTheGateFile_areReasons(t *testing.T) {
	for gate, want := range map[string]string{"gate: FAIL\nstatus_reason: no test\n": "[no test]", "gate: FAIL\n": "[" + roles.NoReason + "]"} {
		v := state.Verdict{Verdict: state.VerdictFail, Reasons: []state.Reason{{Text: roles.NoReason}}}
		if mergeGate(&v, []byte(gate)); fmt.Sprint(v.Reasons) != want {
			t.Errorf("%q: %v", gate, v.Reasons)
		}
	}
}
