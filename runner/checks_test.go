package runner

import (
	"slices"
	"strings"
	"testing"

	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/state"
)

func TestRun_checkStaysRed_taskIsOpenedAgainThenPutAsideAndNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, "stubborn", "[ ] one", "[ ] two")
	b.o.MaxRetries = 1
	b.o.SameErrorThreshold = 100
	// Green before the first iteration, red after it.
	b.check("test ! -f work.txt || { echo the check is red; exit 1; }")
	r := b.run(t.Context())
	wantEnd(t, r, "tasks_put_aside", rules.ExitClaimed)
	if b.calls() != 4 {
		t.Errorf("%d calls, want two for each task (%s)", b.calls(), b.rules())
	}
	for _, want := range []string{`"one"`, `"two"`, "test"} {
		if !strings.Contains(r.Decision.Reason, want) {
			t.Errorf("reason %q lacks %s", r.Decision.Reason, want)
		}
	}
	if plan := b.read(planName); strings.Contains(plan, "[x]") {
		t.Errorf("a box stays ticked:\n%s", plan)
	}
	if p := b.prompt(); !strings.Contains(p, "the check is red") || !strings.Contains(p, "reopened your task") {
		t.Errorf("the agent was not told:\n%s", p)
	}
}

func TestRun_tdd_whatWasRedBeforeBlocksNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("echo red from the start; exit 1")
	b.d.Mode = gate.ModeTDD
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if red := payloads[state.Baseline](b); len(red) != 1 || !slices.Equal(red[0].Red, []string{"test"}) {
		t.Errorf("baseline %+v", red)
	}
}

func TestRun_gate_whatWasRedBeforeBlocksButIsNoTry(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("echo red from the start; exit 1")
	b.o.MaxRetries, b.o.MaxIterations = 1, 2
	r := b.run(t.Context())
	if r.Decision.Exit == rules.ExitComplete || strings.Contains(b.rules(), "tasks_put_aside") {
		t.Errorf("ended by %s", r.Decision.Rule)
	}
}

func TestRun_report_neverBlocks(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("test ! -f work.txt")
	b.d.Mode = gate.ModeReport
	wantEnd(t, b.run(t.Context()), "complete", 0)
	var shown bool
	for _, c := range payloads[state.Check](b) {
		shown = shown || !c.Passed
	}
	if !shown {
		t.Error("the red check was not shown")
	}
}

func TestRun_flakyCheck_costsNoCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	// Green at first, red once after the agent's turn, then green again.
	b.check("test ! -f work.txt || test -f seen || { touch seen; echo flake; exit 1; }")
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if b.calls() != 1 {
		t.Errorf("%d calls", b.calls())
	}
}
