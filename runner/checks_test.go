package runner

import (
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/turn"
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
	wantEnd(t, r, "gate_failed", state.ExitHalted)
	if b.calls() != 3 {
		t.Errorf("%d calls, want two for the first task and one for the second (%s)", b.calls(), b.rules())
	}
	if !strings.Contains(r.Decision.Reason, "check test fails for a second task in the same way: the check is red") {
		t.Errorf("reason %q", r.Decision.Reason)
	}
	if said := b.said(); !strings.Contains(said, "put aside") {
		t.Errorf("the first task was not put aside: %s", said)
	}
	if plan := b.read(planName); strings.Contains(plan, "[x]") {
		t.Errorf("a box stays ticked:\n%s", plan)
	}
	if p := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(p, "the check is red") || !strings.Contains(p, "reopened your task") {
		t.Errorf("the agent was not told:\n%s", p)
	}
}

func TestRun_tdd_whatWasRedBeforeBlocksNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("echo red from the start; exit 1")
	b.d.Mode = gate.ModeTDD
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview) // a person knows that it failed
	if red := payloads[state.Baseline](b); len(red) != 1 || !slices.Equal(red[0].Red, []string{"test"}) {
		t.Errorf("baseline %+v", red)
	}
}

// What was red before the run blocks in the mode gate like any other failure.
func TestRun_gate_redFromTheStart_taskIsOpenedAgainAndTheCheckIsNamed(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	for command, want := range map[string]string{
		"echo red from the start; exit 1": "red from the start",
		"exit 7":                          "exit code 7 and no output",
	} {
		b := newBench(t, "stubborn", "[ ] one", "[ ] two", "[ ] three")
		b.check(command)
		b.o.MaxRetries, b.o.SameErrorThreshold = 1, 100
		r := b.run(t.Context())
		wantEnd(t, r, "gate_failed", state.ExitHalted)
		if !strings.Contains(r.Decision.Reason, "check test fails for a second task in the same way: "+want) {
			t.Errorf("reason %q", r.Decision.Reason)
		}
		var worked []string
		for _, start := range payloads[state.IterationStart](b) {
			worked = append(worked, start.Title)
		}
		if got := strings.Join(worked, " "); got != "one one two" {
			t.Errorf("worked on %s", got)
		}
		if plan := b.read(planName); strings.Contains(plan, "[x]") {
			t.Errorf("a box stays ticked:\n%s", plan)
		}
		if p := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(p, `The required check "test" fails`) || !strings.Contains(p, "This is attempt 2") {
			t.Errorf("the agent was not told:\n%s", p)
		}
	}
}

func TestRun_report_endsAsWithoutChecks(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("test ! -f work.txt")
	b.d.Mode = gate.ModeReport
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if s, err := b.w.Status(); err != nil || s.Proven || s.Unproven != "no check decides (TEST_MODE=report)" {
		t.Errorf("proven %v, %q, %v", s.Proven, s.Unproven, err)
	}
	if b.calls() != 1 {
		t.Errorf("%d calls", b.calls())
	}
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

// A task whose box is never ticked must not burn the night.
func TestRun_taskNeverTicked_isPutAsideAndStaysThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, "busy", "[ ] one", "[ ] two")
	b.inGit()
	b.o.MaxPerTask, b.o.AntiCheat = 3, turn.AnswerRevert
	r := b.run(t.Context())
	wantEnd(t, r, "tasks_put_aside", state.ExitClaimed)
	if b.calls() != 6 {
		t.Errorf("%d calls, want three for each task (%s)", b.calls(), b.rules())
	}
	first, second := b.read(".ralph/logs/run-1/1.prompt.md"), b.read(".ralph/logs/run-1/2.prompt.md")
	if strings.Contains(first, "This is attempt") {
		t.Error("the first prompt speaks of attempts")
	}
	for _, want := range []string{"This is attempt 2 of 3", "- Attempt 1: completed-turn, changed work.txt", "STATUS: BLOCKED"} {
		if !strings.Contains(second, want) {
			t.Errorf("the second prompt lacks %q:\n%s", want, second)
		}
	}
	if start := payloads[state.IterationStart](b); start[3].Title != "two" {
		t.Errorf("the fourth call worked on %q", start[3].Title)
	}
}

// ralph once, twice: the second call has to know why the check failed.
func TestRun_nextRunAfterARedCheck_stillKnowsTheFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, "stubborn", "[ ] one")
	b.check("test ! -f work.txt || { echo the check is red; exit 1; }")
	b.o.MaxIterations = 1
	r := b.run(t.Context())
	wantEnd(t, r, "ceilings", state.ExitCeiling)
	b.d.RunID = "run-2"
	b.run(t.Context())
	p := b.read(".ralph/logs/run-2/1.prompt.md")
	for _, want := range []string{"the check is red", "This is attempt 2", `Iteration 1 worked on "one"`} {
		if !strings.Contains(p, want) {
			t.Errorf("the first prompt of the next run lacks %q:\n%s", want, p)
		}
	}
}
