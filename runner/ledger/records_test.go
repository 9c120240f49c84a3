package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/ledger"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

func confirm(task string, onlyTicks bool) turn.Result {
	return turn.Result{Task: task1(), Origin: state.Origin{Run: "r", Iteration: 7}, Proof: turn.Proof{Worked: true,
		Unearned: true, OnlyTicks: onlyTicks, Reopen: []turn.Reopen{{Task: task, By: turn.ReopenConfirm}}}}
}

func task1() task.Task { return task.Task{ID: "a", Title: "a"} }

func TestLearn_tickThatNothingShows_waitsForItsOwnTurn(t *testing.T) {
	l := ledger.Records{}
	if l.Learn(confirm("b", false)); l.Of("b").Ticked != 7 {
		t.Errorf("%+v", l.Of("b"))
	}
	check := gate.Check{Name: "test", Command: "true"}
	passed := turn.Result{Checks: turn.Checks{Rows: []gate.Check{check}}}
	passed.Proof.Report.Results = []gate.Result{{Check: check, Name: "test", Passed: true}}
	if got := l.Proof("b", passed); got != state.ProofWord {
		t.Errorf("proof %q: the checks pass without its work, too", got)
	}
	l.Settled("b", "r", state.ProofWord)
	if got := l.Of("b").Iterations("r"); len(got) != 1 || got[0] != 7 {
		t.Errorf("confirmed: its work is that of %v, want that of 7", got)
	}
}

func TestLearn_linkedChange_belongsToTheTaskOnceForEachTurn(t *testing.T) {
	l := ledger.Records{}
	r := turn.Result{Task: task1(), Origin: state.Origin{Run: "r", Iteration: 3},
		Work:  turn.Work{Change: git.Change{Count: 1, Files: []string{"b.go"}}},
		Proof: turn.Proof{Worked: true, Links: []audit.Link{{Task: "b", By: audit.ByNames, What: "B"}, {Task: "a", By: audit.ByTests}}}}
	l.Learn(r)
	r.Origin.Iteration = 5
	l.Learn(r)
	a, b := l.Of("a"), l.Of("b")
	if d := cmp.Diff([]int{3, 5}, b.Iterations("r")); d != "" || len(b.Iterations("other")) > 0 {
		t.Error(d)
	}
	if len(a.Work) != 2 || a.Work[0].By != audit.ByTests {
		t.Errorf("tests say more than the turn: %+v", a.Work)
	}
}

func TestLearn_testsTurnedGreen_theFirstAreKept(t *testing.T) {
	l := ledger.Records{}
	r := turn.Result{Task: task1(), Origin: state.Origin{Run: "r", Iteration: 3}, Proof: turn.Proof{Worked: true, Green: []string{"A", "B", "C"}}}
	l.Learn(r)
	r.Proof.Green = []string{"D", "E", "F"}
	l.Learn(r)
	l.Settled("a", "r", state.ProofTests)
	if d := cmp.Diff([]string{"A", "B", "C", "D", "E"}, l.Of("a").Green); d != "" {
		t.Error(d)
	}
}

func TestChoose_doneTaskIsOpenAgain_beginsAnew(t *testing.T) {
	l := ledger.Records{}
	l.Learn(confirm("a", false))
	l.Settled("a", "r", state.ProofWord)
	l.Choose(task.List{Tasks: []task.Task{task1()}})
	if n := l.Of("a"); n.Done || len(n.Work) > 0 {
		t.Errorf("%+v", n)
	}
}

func TestChoose_taskTickedAhead_isCheckedNext(t *testing.T) {
	l := ledger.Records{}
	list := task.List{Tasks: []task.Task{{ID: "b", Title: "b"}, {ID: "c", Title: "c", DependsOn: []string{"b"}}, {ID: "a", Title: "a"}}}
	l.Learn(confirm("a", false))
	l.Learn(confirm("c", false))
	if got, _ := l.Choose(list); got.ID != "a" || got.State != task.Open {
		t.Errorf("%+v; c cannot start yet", got)
	}
}

// A tick of another task's iteration brings a task back that was put aside when it came with work
// for it, and only once.
func TestLearn_tickOfATaskThatWasPutAside_bringsItBackOnceIfItCameWithWork(t *testing.T) {
	list := task.List{Tasks: []task.Task{{ID: "a", Title: "a"}, {ID: "b", Title: "b"}}}
	aside := func(l ledger.Records) bool { return l.Of("b").Aside.Why != "" }
	l := ledger.Records{}
	l.PutAside("b", "not done after 3 iterations", "", list)
	if l.Learn(confirm("b", true)); !aside(l) {
		t.Error("nothing but ticks: it came back")
	}
	if l.Learn(confirm("b", false)); aside(l) {
		t.Error("it did not come back although work was done")
	}
	l.PutAside("b", "not done after 4 iterations", "", list)
	later := ledger.Records{}
	later.Recall(l.Kept()) // the next run
	for i, l := range []ledger.Records{l, later} {
		if l.Learn(confirm("b", false)); !aside(l) {
			t.Errorf("run %d: it came back a second time", i+1)
		}
	}
}

func TestChanged_runThatContinuesAnother_namesTheIterationsOfBoth(t *testing.T) {
	l := ledger.Records{}
	for _, w := range []state.Work{{Run: "old", Iteration: 2}, {Run: "older", Iteration: 1}, {Run: "r", Iteration: 1}, {Run: "r", Iteration: 4}} {
		l.Of("a").Work = append(l.Of("a").Work, w)
	}
	if d := cmp.Diff([]string{"4", "1", "2 of old"}, l.Changed("r", "old")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"4", "1"}, l.Changed("r", "")); d != "" {
		t.Error(d)
	}
}
