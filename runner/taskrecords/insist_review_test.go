package taskrecords_test

import (
	"testing"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/taskrecords"
	"ralph/runner/turn"
)

func TestReview_insistedTask_isChosenUntilATurnWorksOnIt(t *testing.T) {
	list := task.List{Tasks: []task.Task{{ID: "a", Title: "a"}, {ID: "b", Title: "b"}}}
	l := taskrecords.Records{}
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
		l := taskrecords.Records{}
		l.Learn(turn.Result{Task: task.Task{ID: "a"}, Proof: turn.Proof{Worked: true, Unearned: true,
			Findings: []audit.Finding{{Kind: audit.KindForeignTick, Task: "b", Unseen: unseen}}}})
		if l.Of("b").Early == unseen {
			t.Errorf("unseen %t: worked %t", unseen, l.Of("b").Early)
		}
		if l.Of("b").Worked {
			t.Error("nothing shows its code")
		}
	}
}

func TestLearn_earlyTickWithItsCode_isWork(t *testing.T) {
	l := taskrecords.Records{}
	l.Learn(turn.Result{Task: task.Task{ID: "a"}, Proof: turn.Proof{Worked: true, Unearned: true,
		Findings: []audit.Finding{{Kind: audit.KindForeignTick, Task: "b", Seen: true}}}})
	if !l.Of("b").Worked {
		t.Error("its code is there")
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
		l := taskrecords.Records{}
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

// A tick of another task's iteration brings a task back that was put aside when it came with work
// for it, and only once.
func TestLearn_tickOfATaskThatWasPutAside_bringsItBackOnceIfItCameWithWork(t *testing.T) {
	list := task.List{Tasks: []task.Task{{ID: "a", Title: "a"}, {ID: "b", Title: "b"}}}
	ticked := func(unseen, onlyTicks bool) turn.Result {
		return turn.Result{Task: task.Task{ID: "a"}, Proof: turn.Proof{Worked: true, Unearned: true, OnlyTicks: onlyTicks,
			Findings: []audit.Finding{{Kind: audit.KindForeignTick, Task: "b", Unseen: unseen}}}}
	}
	aside := func(l taskrecords.Records) bool { return l.Of("b").Aside.Why != "" }
	l := taskrecords.Records{}
	l.PutAside("b", "not done after 3 iterations", "", list)
	for name, r := range map[string]turn.Result{"no file has its names": ticked(true, false), "nothing but ticks": ticked(false, true)} {
		if l.Learn(r); !aside(l) {
			t.Errorf("%s: it came back", name)
		}
	}
	if l.Learn(ticked(false, false)); aside(l) {
		t.Error("it did not come back although work was done")
	}
	l.PutAside("b", "not done after 4 iterations", "", list)
	later := taskrecords.Records{}
	later.Recall(l.Kept()) // the next run
	for i, l := range []taskrecords.Records{l, later} {
		if l.Learn(ticked(false, false)); !aside(l) {
			t.Errorf("run %d: it came back a second time", i+1)
		}
	}
}
