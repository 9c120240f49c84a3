package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"ralph/internal/world"
)

// A folder in the place of a file of the state must not make ralph take the baseline for ever.
func TestReview_stateBrokenDuringTheBaseline_theRunEndsByItself(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("rm -f .ralph/status.json; mkdir -p .ralph/status.json/x; sleep 1")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("too late"))
	defer cancel()
	if r, err := New(b.o, b.d).Run(ctx); ctx.Err() != nil {
		t.Errorf("ended by %s (%s), %v", r.Decision.Rule, r.Decision.Reason, err)
	}
}
