package ledger_test

import (
	"strings"
	"testing"

	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

func plan(titles ...string) task.List {
	list := task.List{}
	for i, title := range titles {
		list.Tasks = append(list.Tasks, task.Task{ID: title[:1], Title: title, Line: i + 1})
	}
	return list
}

// next is the choice of the next run.
func next(l ledger.Records, list task.List) (task.Task, *ledger.Record) {
	later := ledger.Records{}
	later.Recall(l.Kept())
	t, _ := later.Choose(list)
	return t, later.Of("a")
}

func TestPutAside_nextRun_leavesItUntilTheWordingChanges(t *testing.T) {
	list := plan("a one", "b two")
	l := ledger.Records{}
	n := l.Of("a")
	n.Attempts, n.Tries, n.Past = 10, 4, []string{"changed nothing"}
	l.PutAside("a", "not done after 10 iterations", "", list)

	moved, ticked := plan("a one", "b two"), plan("a one", "b two", "c three")
	moved.Tasks[0].Line = 9
	ticked.Tasks[1].State = task.Done
	for name, test := range map[string]struct {
		list task.List
		want string
	}{
		"the same plan":    {list, "b"},
		"lines have moved": {moved, "b"},
		"another task":     {plan("a one", "b two", "c three"), "a"},
		"other words":      {plan("a one, but simpler", "b two"), "a"},
	} {
		got, notes := next(l, test.list)
		if got.ID != test.want {
			t.Errorf("%s: chose %q, want %q", name, got.ID, test.want)
		}
		if test.want == "a" && (notes.Attempts != 0 || notes.Tries != 0 || notes.Aside.Why != "") {
			t.Errorf("%s: it does not begin afresh: %+v", name, notes)
		}
	}
	l.PutAside("a", "not done after 10 iterations", "", plan("a one", "b two", "c three"))
	if got, _ := next(l, ticked); got.ID != "c" {
		t.Errorf("a tick of another task: chose %q, want c", got.ID)
	}
}

func TestLearn_agentAddsATask_bringsNothingBack(t *testing.T) {
	before, after := plan("a one", "b two"), plan("a one", "b two", "c three")
	l := ledger.Records{}
	l.PutAside("a", "not done after 10 iterations", "", before)
	l.Learn(turn.Result{Task: before.Tasks[1], Work: turn.Work{Before: turn.Plan{Known: true, List: before}},
		Proof: turn.Proof{After: turn.Plan{Known: true, List: after}}})
	if got, _ := l.Choose(after); got.ID != "b" {
		t.Errorf("chose %q, want b", got.ID)
	}
	if got, _ := l.Choose(plan("a one", "b two", "c three", "d four")); got.ID != "a" {
		t.Errorf("after a person's change: %q, want a", got.ID)
	}
}

func TestBound_failedChecks_endEarlier(t *testing.T) {
	for _, test := range []struct{ attempts, tries, perTask, retries, want int }{
		{0, 0, 10, 3, 10},
		{1, 1, 10, 3, 4},
		{3, 1, 10, 3, 6},
		{9, 1, 10, 3, 10},
		{1, 1, 10, 0, 10},
		{1, 1, 0, 3, 4},
		{1, 0, 0, 3, 0},
	} {
		n := ledger.Record{TaskMemory: state.TaskMemory{Attempts: test.attempts, Tries: test.tries}}
		if got := n.Bound(test.perTask, test.retries); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestRemember_longFeedback_isCut(t *testing.T) {
	l := ledger.Records{}
	l.Remember("a", []string{"short", strings.Repeat("é", 3000)})
	_, n := next(l, plan("a one"))
	if len(n.Feedback) != 2 || n.Feedback[0] != "short" || len(n.Feedback[1]) > 2100 {
		t.Errorf("%d texts", len(n.Feedback))
	}
}

func TestTicked_doneTaskThatWasTriedAndNotSettled_isSomebodyElses(t *testing.T) {
	list := plan("a one", "b two", "c three")
	list.Tasks[0].State, list.Tasks[1].State = task.Done, task.Done
	l := ledger.Records{}
	for _, id := range []string{"a", "b", "c"} {
		l.Attempted(id, "changed nothing")
	}
	l.Settled("b", "r", state.ProofWord)
	if got := l.Ticked(list); len(got) != 1 || got[0] != "a" {
		t.Errorf("%q", got)
	}
}
