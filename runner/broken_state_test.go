package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/turn"
)

// A folder in the place of a file of the state must not make ralph take the baseline for ever.
func TestState_brokenDuringTheBaseline_theRunEndsByItself(t *testing.T) {
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

// What the checks found before ralph failed itself still counts.
func TestState_unwritableAfterRedChecks_tickIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.check("test ! -f work.txt || { rm -f .ralph/test_baseline.json; mkdir -p .ralph/test_baseline.json/x; echo red; exit 1; }")
	b.o.AntiCheat = turn.AnswerRevert
	_, err := New(b.o, b.d).Run(t.Context())
	if err == nil {
		t.Fatal("the baseline could be written")
	}
	if plan := b.read(planName); strings.Contains(plan, "[x]") {
		t.Errorf("a tick that no check proves stays:\n%s", plan)
	}
}
