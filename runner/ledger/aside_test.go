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

func TestAnother_needsATaskThatDoesNotWaitForThisOne(t *testing.T) {
	needs, around, later := plan("a one", "b two"), plan("b two", "a one"), plan("a one", "b two")
	needs.Tasks[1].DependsOn = []string{"a"}
	around.Tasks[1].Depth = 1
	later.Tasks[0].Phase, later.Tasks[1].Phase = 1, 2
	aside, stuck := ledger.Records{}, ledger.Records{}
	aside.PutAside("b", "not done after 10 iterations", "", plan("a one", "b two"))
	stuck.PutAside("b", "no progress", "", plan("a one", "b two"))
	stuck.Of("b").Aside.Stuck = true
	for name, c := range map[string]struct {
		known ledger.Records
		list  task.List
		want  bool
	}{
		"two tasks":                {ledger.Records{}, plan("a one", "b two"), true},
		"it depends on this one":   {ledger.Records{}, needs, false},
		"this one is a part of it": {ledger.Records{}, around, false},
		"it is of a later phase":   {ledger.Records{}, later, false},
		"it was put aside":         {aside, plan("a one", "b two"), false},
		"it is stuck, too":         {stuck, plan("a one", "b two"), false},
		"there is no other":        {ledger.Records{}, plan("a one"), false},
	} {
		if got := c.known.Another("a", c.list); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestChoose_stuckTask_comesBackWhenNoOtherIsLeft(t *testing.T) {
	list, l := plan("a one", "b two"), ledger.Records{}
	l.PutAside("a", "no progress in 2 consecutive iterations", "", list)
	l.Of("a").Aside.Stuck = true
	if got, _ := next(l, list); got.ID != "b" {
		t.Errorf("chose %q, want b", got.ID)
	}
	list.Tasks[1].State = task.Done
	if got, rec := next(l, list); got.ID != "a" || rec.Aside.Why != "" {
		t.Errorf("chose %q, want a: %+v", got.ID, rec.Aside)
	}
}
