package runner

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/turn"
	"ralph/state"
)

func TestRun_taskWasPutAside_nextRunLeavesItUntilThePlanChanges(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "busy", "[ ] one", "[ ] two")
	b.inGit()
	b.o.MaxPerTask, b.o.AntiCheat, b.o.MaxIterations = 1, turn.AnswerRevert, 1
	b.run(t.Context())
	b.d.RunID = "run-2"
	b.run(t.Context())
	start := payloads[state.IterationStart](b)
	if len(start) != 2 || start[1].Title != "two" {
		t.Errorf("the next run worked on %+v, want two", start[1:])
	}
	b.d.RunID = "run-3"
	r := b.run(t.Context())
	wantEnd(t, r, "tasks_put_aside", state.ExitClaimed)
	if b.calls() != 2 || !strings.Contains(r.Decision.Next, "ralph reset --tasks") {
		t.Errorf("%d calls; next: %q", b.calls(), r.Decision.Next)
	}
	b.write(planName, b.read(planName)+"- [ ] three\n")
	b.d.RunID = "run-4"
	b.run(t.Context())
	if start = payloads[state.IterationStart](b); len(start) != 3 || start[2].Title != "one" {
		t.Errorf("after a change of the plan, the run worked on %+v, want one", start[2:])
	}
}

// The feedback has to outlive a run that ends before its first turn does.
func TestRun_killedInItsFirstCall_theRunAfterKnowsTheFailure(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "stubborn", "[ ] one")
	b.check("test ! -f work.txt || { echo the check is red; exit 1; }")
	b.o.MaxIterations, b.o.MaxRetries, b.o.MaxPerTask = 1, 3, 10
	b.run(t.Context())
	var kept state.Status
	show := b.d.Show
	b.d.Show = func(e state.Event) { // as the next process would find it after kill -9
		if show(e); e.Kind == state.KindSession && e.Run == "run-2" {
			kept, _ = b.w.Status()
		}
	}
	b.d.RunID = "run-2"
	b.run(t.Context())
	if err := b.w.SaveStatus(kept); err != nil {
		t.Fatal(err)
	}
	b.d.RunID = "run-3"
	b.run(t.Context())
	if p := b.prompt(); !strings.Contains(p, "the check is red") || !strings.Contains(p, "attempt 2 of 4") {
		t.Errorf("the prompt does not know the failure:\n%s", p)
	}
}

func TestRun_skippedTaskComesBack_itsFeedbackIsStillThere(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "stubborn", "[ ] one", "[ ] two")
	b.check(`test ! -f work.txt || test -e two.ok || { echo the check is red; exit 1; }`)
	b.o.MaxIterations = 1
	b.run(t.Context())
	b.write("two.ok", "")
	s, err := b.w.Status()
	if err != nil {
		t.Fatal(err)
	}
	for id, m := range s.Tasks {
		m.Skipped = true
		s.Tasks[id] = m
	}
	if err := b.w.SaveStatus(s); err != nil {
		t.Fatal(err)
	}
	b.d.RunID = "run-2"
	b.run(t.Context())
	if p := b.prompt(); !strings.Contains(p, "## Your task\n\ntwo") {
		t.Fatalf("the second run did not work on the other task:\n%s", p)
	}
	b.d.RunID = "run-3"
	b.run(t.Context())
	if p := b.prompt(); !strings.Contains(p, "## Your task\n\none") || !strings.Contains(p, "the check is red") {
		t.Errorf("the prompt does not know the failure:\n%s", p)
	}
}

// A plan that writes the test first: the tick stands, and the run does not end with
// 0 while the test is red.
func TestRun_tdd_newRedTest_blocksNoTickButTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] write the test")
	b.d.Checks = []gate.Check{{Name: "test", Command: `echo "ok 1 - old"; test ! -f work.txt || { echo "not ok 2 - new"; exit 1; }`}}
	b.d.Mode = gate.ModeTDD
	r := b.run(t.Context())
	wantEnd(t, r, "review", state.ExitReview)
	if b.calls() != 1 || !strings.Contains(r.Decision.Reason, "check test: never passed yet: new") {
		t.Errorf("%d calls, %q", b.calls(), r.Decision.Reason)
	}
	if plan := b.read(planName); !strings.Contains(plan, "[x] write the test") {
		t.Errorf("the tick was taken back:\n%s", plan)
	}
}

// A build that prints nothing is not a reason to end the call.
func TestRun_silentWhileAToolCallIsOpen_isNotStuck(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for a silent tool")
	}
	t.Parallel()
	b := newBench(t, "long-tool", "[ ] one")
	b.o.IdleTimeout = 1500 * time.Millisecond
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if end := payloads[state.IterationEnd](b); len(end) != 1 || end[0].Failed {
		t.Errorf("%+v", end)
	}
}
