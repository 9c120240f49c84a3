package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"ralph/internal/world"
)

// Without its state ralph must end, not take the baseline for ever.
func TestReview_stateUnwritableDuringTheBaseline_endsTheRun(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one")
	b.check("rm -rf .ralph; touch .ralph; sleep 5")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 8*time.Second, errors.New("too late"))
	defer cancel()
	r, err := New(b.o, b.d).Run(ctx)
	if err == nil || ctx.Err() != nil {
		t.Errorf("ended by %s (%s), %v", r.Decision.Rule, r.Decision.Reason, err)
	}
}
