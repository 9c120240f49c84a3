package rules

import (
	"strings"
	"testing"
	"time"

	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

func TestAdmit_questionWithoutAnIterationLeft_isNotWaitedFor(t *testing.T) {
	for most, want := range map[int]state.Action{0: state.ActionWait, 2: state.ActionWait, 1: state.ActionStop} {
		f := Admission{Waiting: []string{"q1"}}
		f.Now = time.Now()
		f.WaitingSince, f.Policy.QuestionWait, f.Policy.MaxIterations, f.Memory.Iterations = f.Now, time.Hour, most, 1
		if d := Admit(f); d.Rule != state.RuleQuestion || d.Action != want || want == state.ActionStop && d.Exit != state.ExitReview {
			t.Errorf("at most %d iterations: %+v", most, d)
		}
	}
}

func TestAdmit_someBlockedAndSomePutAside_bothAreNamed(t *testing.T) {
	held := []state.TaskName{{ID: "1.3", Title: `"pay": marked "Draft"`}}
	aside, never, fault := []string{`"login": refused 3 times`}, []string{"1.5"}, task.List{Faults: []string{`unknown word "maybe"`}}
	for _, c := range []struct {
		f    Admission
		rule string
		exit int
		says []string
	}{
		{Admission{Blocked: held}, "blocked", state.ExitReview, []string{`1.3 "pay": marked "Draft"`}},
		{Admission{Blocked: held, PutAside: aside}, "tasks_put_aside", state.ExitClaimed, []string{"1.3", "refused 3 times"}},
		{Admission{Blocked: held, Never: never}, "plan_unusable", state.ExitUsage, []string{"1.3", "1.5"}},
		{Admission{Blocked: held, Facts: Facts{Plan: turn.Plan{List: fault}}}, "plan_unusable", state.ExitUsage, []string{"1.3", "maybe"}},
		{Admission{Never: never, PutAside: aside}, "plan_unusable", state.ExitUsage, []string{"1.5", "refused 3 times"}},
	} {
		d := Admit(c.f)
		if d.Rule != c.rule || d.Exit != c.exit {
			t.Errorf("%s: rule %s, exit %d", c.rule, d.Rule, d.Exit)
		}
		for _, text := range c.says {
			if !strings.Contains(d.Reason, text) {
				t.Errorf("%s: %q does not say %q", c.rule, d.Reason, text)
			}
		}
	}
	if d := Admit(Admission{Blocked: held}); !strings.Contains(d.Next, "ralph task reopen 1.3;") {
		t.Error(d.Next)
	}
}

func TestNext_isTheCommandForTheCase(t *testing.T) {
	if d := Admit(Admission{Waiting: []string{"q3: Which? (task \"one\")"}}); !strings.HasPrefix(d.Next, "ralph answer q3 TEXT ") {
		t.Error(d.Next)
	}
	f := usual() // ralph has put the plan back, so there is nothing to fix
	f.Memory.BadPlans = 3
	if d := f.decide(); d.Rule != state.RulePlanUnusable || !strings.Contains(d.Next, "ralph note TEXT") || strings.Contains(d.Next, "fix the plan") {
		t.Errorf("%s: %s", d.Rule, d.Next)
	}
}
