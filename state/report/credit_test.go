package report

import (
	"slices"
	"strings"
	"testing"

	"ralph/state"
	"ralph/state/view"
)

// shown builds the report, and returns state and verdict of its first task.
func (n *night) shown(undone ...int) string {
	changes := map[int]Change{}
	for _, number := range undone {
		changes[number] = Change{Undone: true}
	}
	t := n.f.Build(Source{Project: "/p", Now: n.at, Changes: changes}).Tasks[0]
	return view.Join(": ", t.State, t.Verdict)
}

// begun is a run at the task "one".
func begun() *night {
	n := newNight()
	n.after(0, state.RunStart{Total: 3})
	n.iteration, n.task = 1, "one"
	return n
}

// The review said yes to work that is gone.
func TestBuild_undoneWorkThatPassedAReview_isNotDone(t *testing.T) {
	n := begun()
	n.call(state.IterationEnd{})
	n.iteration, n.role = 2, "tester"
	n.after(1, state.IterationStart{Title: "one"})
	n.after(1, state.IterationEnd{TaskDone: true})
	if got := n.shown(); got != "done: 1 check passed" {
		t.Error(got)
	}
	if got := n.shown(1); got != "open: taken back by ralph undo" {
		t.Error(got)
	}
	n.iteration, n.role = 3, "developer"
	n.call(state.IterationEnd{TaskDone: true})
	if got := n.shown(1); got != "done: 1 check passed" {
		t.Errorf("done again: %s", got)
	}
}

func TestBuild_taskThatAPersonTicks_isNotTheAgents(t *testing.T) {
	during := func(n *night) {
		n.after(1, state.IterationStart{Title: "one"})
		n.after(1, state.TaskChange{ID: "one", State: "done", Person: true})
		n.after(1, state.IterationEnd{TaskDone: true})
	}
	for name, c := range map[string]struct {
		does func(*night)
		want string
	}{
		"during its iteration": {during, "done: a person marked it as done"},
		"between iterations": {func(n *night) {
			n.call(state.IterationEnd{})
			n.after(1, state.RunEnd{Ticked: []string{"one"}})
		}, "done: marked as done outside of its iterations"},
		"then opened, and done by the agent": {func(n *night) {
			during(n)
			n.iteration = 2
			n.call(state.IterationEnd{TaskDone: true})
		}, "done: 1 check passed"},
	} {
		n := begun()
		if c.does(n); n.shown() != c.want {
			t.Errorf("%s: %s, want %s", name, n.shown(), c.want)
		}
	}
}

func TestProof_reviewWithoutAnyCheck_isMoreThanTheAgentsWord(t *testing.T) {
	if got := (&Task{Reviews: []string{"qa: pass"}}).proof(); got != "no check ran · qa: pass" {
		t.Error(got)
	}
	if got := (&Task{}).proof(); got != "no check ran: only the agent says so" {
		t.Error(got)
	}
}

func TestBuild_abortedIteration_isNotAmongThoseThatFinished(t *testing.T) {
	n := begun()
	n.call(state.IterationEnd{Cut: string(state.RequestAbort)})
	n.after(1, state.RunEnd{Exit: 130})
	if got := n.build().Result; !strings.Contains(got, " and 0 finished iterations") {
		t.Error(got)
	}
}

func TestBuild_skippedTask_isNotSaidToHaveFailed(t *testing.T) {
	n := begun()
	n.call(state.IterationEnd{Cut: string(state.RequestSkip), Outcome: "killed-by-signal", Failed: true})
	n.after(1, state.RunEnd{Exit: 130})
	if got := n.shown(); !strings.HasSuffix(got, "skipped") {
		t.Error(got)
	}
}

func TestBuild_runningIteration_saysSo(t *testing.T) {
	n := begun()
	n.after(1, state.IterationStart{Title: "one"})
	if got := n.shown(); got != "open: the agent works on it" {
		t.Error(got)
	}
}

// Done work did not make a check fail that failed before the run.
func TestBuild_checkThatWasRedBeforeTheRun_isNotSaidToHaveFailed(t *testing.T) {
	for _, test := range []struct {
		red, before []string
		want        string
	}{
		{[]string{"test"}, []string{"test"}, "done: red before the run: test"},
		{[]string{"lint"}, []string{"lint"}, "done: 1 check passed; red before the run: lint"},
		{[]string{"lint", "test"}, []string{"test"}, "done: failed: lint"},
		{nil, []string{"lint"}, "done: 2 checks passed"},
	} {
		n := begun()
		n.after(1, state.IterationStart{Title: "one"})
		n.after(1, state.Check{Name: "test", Passed: !slices.Contains(test.red, "test")})
		if !slices.Equal(test.red, []string{"test"}) {
			n.after(1, state.Check{Name: "lint", Passed: !slices.Contains(test.red, "lint")})
		}
		n.after(1, state.IterationEnd{TaskDone: true, RedBefore: test.before})
		if got := n.shown(); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
		n.iteration, n.role = 2, "tester"
		n.after(1, state.IterationStart{Title: "one"})
		n.after(1, state.IterationEnd{TaskDone: true})
		if got := n.shown(); got != test.want {
			t.Errorf("after a review, %+v: %s", test, got)
		}
	}
}

func TestBuild_taskThatChangedExistingTests_namesThem(t *testing.T) {
	n := begun()
	n.call(state.IterationEnd{TaskDone: true})
	known := map[string]state.TaskMemory{"one": {Done: true, ChangedTests: []string{"tests/test_tax.py (test_rate)", "a_test.go"}}}
	r := n.f.Build(Source{Project: "/p", Now: n.at, Snapshot: view.Snapshot{Status: state.Status{Tasks: known}}})
	const want = "changed existing tests: tests/test_tax.py (test_rate), a_test.go"
	page := string(r.HTML())
	if !strings.Contains(r.Text(), want) || !strings.Contains(page, want) || !strings.Contains(r.Markdown(), escape(want)) ||
		len(r.Tasks[0].ChangedTests) != 2 {
		t.Errorf("%+v\n%s\n%s", r.Tasks[0], r.Text(), page)
	}
}
