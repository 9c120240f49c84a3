package runner

import (
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/turn"
	"ralph/state"
)

func TestRun_lastWordContradictsTheDonePlan_isVerifiedOnce(t *testing.T) {
	for agent, want := range map[string]struct {
		rule        string
		exit, calls int
	}{
		"contradicts":  {"review", state.ExitReview, 2},
		"crashes-last": {"review", state.ExitReview, 2},
		"clears-up":    {"complete", state.ExitComplete, 2},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agent, "[ ] one")
			b.check("true")
			wantEnd(t, b.run(t.Context()), want.rule, want.exit)
			if b.calls() != want.calls {
				t.Errorf("%d calls, want %d (%s)", b.calls(), want.calls, b.rules())
			}
			if p := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(p, "Every task of the plan is ticked, but the agent") {
				t.Errorf("the verifying prompt does not say why:\n%s", p)
			}
		})
	}
}

func TestRun_openFinding_needsAReviewAndStaysOpenInTheNextRun(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "repairs", "[ ] one")
	b.write("a.go", "package a\n\nfunc A() int { return 1 }\n")
	b.write("a_test.go", expecting(1))
	b.inGit()
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerWarn, 1
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	s, err := b.w.Status()
	if err != nil || s.Status != state.StatusReview || len(s.Review) != 1 || s.Review[0].File != "a_test.go" || s.Review[0].Show != "ralph diff 1 --run run-1" || s.Review[0].N != 1 {
		t.Errorf("%v, status %s, review %+v", err, s.Status, s.Review)
	}
	b.d.RunID = "run-2"
	r := b.run(t.Context())
	if r.Decision.Exit == state.ExitComplete {
		t.Errorf("the next run forgot the finding: %s", r.Decision.Reason)
	}
}

func TestRun_findingThatIsRepaired_closes(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "repairs", "[ ] one", "[ ] two")
	b.write("a.go", "package a\n\nfunc A() int { return 1 }\n")
	b.write("a_test.go", expecting(1))
	b.inGit()
	b.o.AntiCheat = turn.AnswerWarn
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
}

func TestRun_fewerTestsThanBefore_needsAReview(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.d.Checks = []gate.Check{{Name: "test", Command: `echo "ok 1 - a"; test -f work.txt || echo "ok 2 - b"; test -f work.txt && echo 1..1 || echo 1..2`}}
	r := b.run(t.Context())
	wantEnd(t, r, "review", state.ExitReview)
	if !strings.Contains(r.Decision.Reason, "2 tests ran before, 1 runs now") {
		t.Errorf("reason %q", r.Decision.Reason)
	}
}
