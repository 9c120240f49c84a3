package ledger_test

import (
	"testing"

	"ralph/runner/ledger"
)

func TestReview_taskThatWasPutAside_beginsAfreshInTheNextRun(t *testing.T) {
	l, next := ledger.Ledger{}, ledger.Ledger{}
	n := l.Of("a")
	n.Attempts, n.Tries, n.Aside = 10, 4, "not done after 10 iterations"
	next.Recall(l.Kept())
	if n := next.Of("a"); n.Attempts != 0 || n.Tries != 0 {
		t.Errorf("the next run gives it up at once: %d attempts, %d tries", n.Attempts, n.Tries)
	}
}
