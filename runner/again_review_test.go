package runner

import (
	"testing"

	"ralph/runner/gate"
	"ralph/state"
)

// Starting ralph again is no way around a review.
func TestReview_fewerTests_stayInTheNextRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.d.Checks = []gate.Check{{Name: "test", Command: `echo "ok 1 - a"; test -f work.txt || echo "ok 2 - b"; test -f work.txt && echo 1..1 || echo 1..2`}}
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	b.d.RunID = "run-2"
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
}
