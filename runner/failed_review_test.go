package runner

import (
	"strings"
	"testing"

	"ralph/runner/turn"
)

// What the checks found before ralph failed itself still counts.
func TestReview_ralphFailsAfterRedChecks_tickIsTakenBack(t *testing.T) {
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
