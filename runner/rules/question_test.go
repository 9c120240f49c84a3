package rules

import (
	"strings"
	"testing"
	"time"
)

func TestAdmit_questionWithoutAnIterationLeft_isNotWaitedFor(t *testing.T) {
	for most, want := range map[int]Action{0: ActionWait, 2: ActionWait, 1: ActionStop} {
		f := Admission{Waiting: []string{"q1"}}
		f.Now = time.Now()
		f.WaitingSince, f.Policy.QuestionWait, f.Policy.MaxIterations, f.Memory.Iterations = f.Now, time.Hour, most, 1
		if d := Admit(f); d.Rule != RuleQuestion || d.Action != want || want == ActionStop && d.Exit != ExitReview {
			t.Errorf("at most %d iterations: %+v", most, d)
		}
	}
}

func TestAdmit_someBlockedAndSomePutAside_bothAreNamed(t *testing.T) {
	d := Admit(Admission{Blocked: []string{`1.3 (marked "Draft")`}, PutAside: []string{`"login": refused 3 times`}})
	if d.Rule != "plan_unusable" || !strings.Contains(d.Reason, "1.3") || !strings.Contains(d.Reason, "refused 3 times") {
		t.Errorf("%+v", d)
	}
}
