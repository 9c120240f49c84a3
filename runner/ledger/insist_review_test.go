package ledger_test

import (
	"testing"

	"ralph/runner/ledger"
	"ralph/runner/task"
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
