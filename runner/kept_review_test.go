package runner

import (
	"testing"

	"ralph/internal/world"
	"ralph/runner/turn"
	"ralph/state"
)

// A run that is killed must not take its findings with it.
func TestReview_openFinding_isOnDiskWhileTheRunGoesOn(t *testing.T) {
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
