package rules

import (
	"testing"

	"ralph/runner/roles"
	"ralph/state"
)

func TestConclude_eachRow_decidesItsOwn(t *testing.T) {
	policy := Policy{MaxRetries: 3, MaxPerTask: 10}
	said := func(verdict string) roles.Outcome {
		return roles.Settle([]state.Verdict{{Name: "qa", Verdict: verdict, Reasons: []state.Reason{{Text: "why"}}}})
	}
	covered := map[string]bool{}
	for _, test := range []struct {
		rule     string
		facts    ReviewFacts
		action   state.Action
		aside    bool
		feedback bool
		reason   string
	}{
		{"review_blocked", ReviewFacts{Outcome: said(state.VerdictFail), Refused: 2}, state.ActionContinue, true, false, "refused 3 times: qa: why"},
		{"review_blocked", ReviewFacts{Outcome: said(state.VerdictFail), Attempts: 10}, state.ActionContinue, true, false, "refused: qa: why"},
		{"review_refused", ReviewFacts{Outcome: said(state.VerdictFail), Refused: 1, Attempts: 9}, state.ActionRetry, false, true, said(state.VerdictFail).Summary()},
		{"review_missing", ReviewFacts{Outcome: said(state.VerdictNone)}, state.ActionContinue, false, false, said(state.VerdictNone).Summary()},
		{"review_passed", ReviewFacts{Outcome: said(state.VerdictPass)}, state.ActionContinue, false, false, said(state.VerdictPass).Summary()},
		{"review_passed", ReviewFacts{Outcome: said(state.VerdictPass), Next: roles.PhaseJudges}, state.ActionContinue, false, true, said(state.VerdictPass).Summary()},
	} {
		d := ConcludeReview(test.facts, policy)
		if d.Rule != test.rule || d.Action != test.action || d.PutAside != test.aside || (d.Feedback != nil) != test.feedback || d.Reason != test.reason {
			t.Errorf("%+v, want %+v", d, test)
		}
		covered[d.Rule] = true
	}
	for _, r := range ReviewRules() {
		if !covered[r.Name] {
			t.Errorf("rule %q has no test", r.Name)
		}
	}
}
