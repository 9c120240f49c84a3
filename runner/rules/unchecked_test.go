package rules

import (
	"strings"
	"testing"

	"ralph/runner/gate"
)

// A check that was skipped proves nothing, so the reason must not say that it passed.
func TestConclude_completeWithoutACheckThatRan_saysSo(t *testing.T) {
	skipped := gate.Result{Name: "test", Verdict: gate.VerdictSkipped, Reason: "there is no go.mod"}
	for name, c := range map[string]struct {
		results []gate.Result
		want    string
	}{
		"it ran":           {[]gate.Result{{Name: "test", Passed: true, Verdict: gate.VerdictPassed}}, "all required checks pass"},
		"skipped":          {[]gate.Result{skipped}, "no required check ran: test: there is no go.mod"},
		"one of two ran":   {[]gate.Result{skipped, {Name: "build", Passed: true, Verdict: gate.VerdictPassed}}, "all required checks that ran pass; skipped: test: there is no go.mod"},
		"the optional ran": {[]gate.Result{skipped, {Name: "lint", Check: gate.Check{Optional: true}, Passed: true, Verdict: gate.VerdictPassed}}, "no required check ran: test: there is no go.mod"},
	} {
		f := usual()
		done(&f)
		passing(&f)
		f.It.Proof.Report.Results = c.results
		if d := f.decide(); d.Rule != "complete" || !strings.HasSuffix(d.Reason, " and "+c.want) {
			t.Errorf("%s: %s: %s, want %q", name, d.Rule, d.Reason, c.want)
		}
	}
}
