package roles

import (
	"strings"
	"testing"

	"ralph/state"
)

// Nobody was asked, so no reviewer may be said to have looked.
func TestWithout_saysThatNobodyWasAsked(t *testing.T) {
	for _, optional := range []bool{false, true} {
		v := Reviewer{Name: "Librarian", RequireEvidence: true, Optional: optional}.Without("there is no evidence; leave some in x")
		o := Settle(append([]state.Verdict{{Name: "Auditor", Verdict: "pass", Score: 90, Threshold: 70, Weight: 1}}, v))
		if o.Passed != optional || o.Score != 90 {
			t.Errorf("optional %t: passed %t, score %d", optional, o.Passed, o.Score)
		}
		told := strings.Join(o.Feedback(), "\n")
		if strings.Contains(told, "looked at your work") || !strings.Contains(told, "Librarian was not asked") || !strings.Contains(told, "leave some in x") {
			t.Errorf("optional %t: the developer is told %q", optional, told)
		}
		if line := v.Line(); strings.Contains(line, "of 100") || !strings.Contains(line, "not asked") || strings.Contains(line, "does not block") != optional {
			t.Errorf("optional %t: %q", optional, line)
		}
	}
}

func TestSummary_optionalRefusal_isSaidNotToBlock(t *testing.T) {
	v := state.Verdict{Name: "Librarian", Verdict: "fail", Score: 20, Threshold: 70, Weight: 1}
	if got, want := Settle([]state.Verdict{v}).Summary(), "Librarian: fail"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.Optional = true
	o := Settle([]state.Verdict{v})
	if got, want := o.Summary(), "Librarian: fail (not required, does not block)"; got != want || !o.Passed {
		t.Errorf("%q, want %q", got, want)
	}
}
