package ledger_test

import (
	"testing"

	"ralph/runner/audit"
	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/runner/turn"
)

func TestReview_insistedTask_isChosenUntilATurnWorksOnIt(t *testing.T) {
	list := task.List{Tasks: []task.Task{{ID: "a", Title: "a"}, {ID: "b", Title: "b"}}}
	l := ledger.Ledger{}
	l.Of("b").Foreign = 2
	for i := range 2 { // the run asks once more after a wait or a pause
		if got, _ := l.Choose(list); got.ID != "b" {
			t.Errorf("choice %d is %q, want b", i+1, got.ID)
		}
	}
	l.Skip("b")
	if got, _ := l.Choose(list); got.ID != "a" {
		t.Errorf("after a skip: %q, want a", got.ID)
	}
}

func TestLearn_earlyTick_isWorkUnlessNothingNamesItsCode(t *testing.T) {
	for _, unseen := range []bool{true, false} {
		l := ledger.Ledger{}
		l.Learn(turn.Result{Task: task.Task{ID: "a"}, Proof: turn.Proof{Worked: true, Unearned: true,
			Findings: []audit.Finding{{Kind: audit.KindForeignTick, Task: "b", Unseen: unseen}}}})
		if l.Of("b").Worked == unseen {
			t.Errorf("unseen %t: worked %t", unseen, l.Of("b").Worked)
		}
	}
}

// What the agent insists on may still wait for something else.
func TestReview_insistedTaskThatCannotBegin_isNotChosen(t *testing.T) {
	for name, other := range map[string]task.Task{
		"it depends on an open one": {ID: "b", DependsOn: []string{"a"}},
		"it is marked as blocked":   {ID: "b", State: task.Blocked},
		"it is optional":            {ID: "b", Optional: true},
	} {
		list := task.List{Tasks: []task.Task{{ID: "a"}, other, {ID: "c"}}}
		l := ledger.Ledger{}
		l.Of("b").Foreign = 2
		if got, _ := l.Choose(list); got.ID != "a" {
			t.Errorf("%s: chose %q", name, got.ID)
		}
		l.Of("c").Foreign = 2
		if got, _ := l.Choose(list); got.ID != "c" {
			t.Errorf("%s: chose %q, want the one that may begin", name, got.ID)
		}
	}
}
