package runner

import (
	"os"
	"path/filepath"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/turn"
	"ralph/state"
)

// A run that is killed must not take its findings with it.
func TestOpenItems_findingOfATurn_isOnDiskWhileTheRunGoesOn(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "repairs", "[ ] one", "[ ] two")
	b.write("a.go", "package a\n\nfunc A() int { return 1 }\n")
	b.write("a_test.go", expecting(1))
	b.inGit()
	b.o.AntiCheat = turn.AnswerWarn
	var kept []state.ReviewItem
	b.d.Show = func(e state.Event) { // the second call begins: begin has saved nothing yet, so look a little later
		if e.Kind == state.KindSession && e.Iteration == 2 {
			s, err := b.w.Status() // as the next process would find it after kill -9
			if err != nil {
				t.Error(err)
			}
			kept = s.Review
		}
	}
	b.run(t.Context())
	if len(kept) != 1 {
		t.Errorf("status.json has %d findings while the second call runs, want the one of the first", len(kept))
	}
}

// What a person has accepted once is not permission to do it again.
func TestOpenItems_acceptedFinding_isFoundAgainInALaterRun(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "repairs", "[ ] one")
	b.write("a.go", "package a\n\nfunc A() int { return 1 }\n")
	b.write("a_test.go", expecting(1))
	b.inGit()
	b.o.AntiCheat, b.o.MaxIterations = turn.AnswerWarn, 1
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	s, err := b.w.Status()
	if err != nil || len(s.Review) != 1 {
		t.Fatal(err, s.Review)
	}
	// ralph accept
	s.Accepted, s.Review, s.Status, s.ExitReason, s.ExitCode = []string{s.Review[0].Text}, nil, state.StatusCompleted, "plan_complete", 0
	if err := b.w.SaveStatus(s); err != nil {
		t.Fatal(err)
	}
	// The weakened test is back, and a new plan begins.
	b.write("a_test.go", expecting(1))
	b.write(planName, "# Plan\n\n- [ ] another\n")
	_ = os.Remove(filepath.Join(b.dir, "count"))
	_ = os.Remove(b.counter())
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
}

// Starting ralph again is no way around a review.
func TestOpenItems_fewerTests_stayInTheNextRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.d.Checks = []gate.Check{{Name: "test", Command: `echo "ok 1 - a"; test -f work.txt || echo "ok 2 - b"; test -f work.txt && echo 1..1 || echo 1..2`}}
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
}
