package rules

import (
	"strings"
	"testing"

	"ralph/runner/gate"
	"ralph/state"
)

func TestFailure_longReasonOfSeveralLines_isOneShortClause(t *testing.T) {
	why := "conflicts with what has landed: no changelog\n" + strings.Repeat("and more\n", 200)
	f := checkFailure{Merge: state.MergeConflict, Report: gate.Report{Results: []gate.Result{{Name: "merge", Verdict: gate.VerdictFailed, Blocks: true, Reason: why}}}}
	for _, text := range []string{f.What(), f.Again()} {
		if strings.Contains(text, "\n") || len(text) > 500 || !strings.Contains(text, "no changelog and more") {
			t.Errorf("%d bytes: %q", len(text), text)
		}
	}
	if told := f.Feedback(false); !strings.Contains(told[0], why) {
		t.Errorf("the agent is not told everything: %q", told)
	}
}
