package state

import "testing"

func TestVerdict_Line(t *testing.T) {
	for want, v := range map[string]Verdict{
		"Poet (claude): pass, 90 of 100, needs 70":                                        {Name: "Poet", Agent: "claude", Verdict: VerdictPass, Score: 90, Threshold: 70},
		"Poet (claude): fail, 5 of 100, needs 70, not required, does not block: it limps": {Name: "Poet", Agent: "claude", Verdict: VerdictFail, Score: 5, Threshold: 70, Optional: true, Reasons: []Reason{{Text: "it limps"}}},
		"Poet: fail, 0 of 100, needs 70: there is no evidence":                            {Name: "Poet", Verdict: VerdictFail, Threshold: 70, Reasons: []Reason{{Text: "there is no evidence"}}},
	} {
		if got := v.Line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
