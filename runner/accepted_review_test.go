package runner

import (
	"os"
	"path/filepath"
	"testing"

	"ralph/internal/world"
	"ralph/runner/turn"
	"ralph/state"
)

// What a person has accepted once is not permission to do it again.
func TestReview_acceptedFinding_isFoundAgainInALaterRun(t *testing.T) {
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
	// The test comes back, and another plan begins.
	b.write("a_test.go", expecting(1))
	b.write(planName, "# Plan\n\n- [ ] another\n")
	_ = os.Remove(filepath.Join(b.dir, "count"))
	_ = os.Remove(b.counter())
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
}
