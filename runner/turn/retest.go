package turn

import (
	"context"

	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/state"
)

// Proven is a turn whose checks have run, for Worker.Retest.
type Proven struct {
	Assignment
	Before git.Snapshot // as the turn found the workspace
	Done   bool         // the task got its tick, and its checks let it
	Report gate.Report
	Suite  *gate.Suite // to run checks
	Now    func() (*git.Snapshot, error)
	Tell   func(state.Payload)
}

// retest asks whether the checks are green because of their tests, as far as it can be tried.
func (t *turn) retest(ctx context.Context, f *facts) {
	if t.w.Retest == nil || !f.observed {
		return
	}
	ticked := t.a.Task.ID == "" || f.left.IsDone(t.a.Task.ID) && !f.before.IsDone(t.a.Task.ID)
	found, err := t.w.Retest(ctx, Proven{
		Assignment: t.a, Before: f.found, Report: f.report, Suite: t.suite(), Tell: t.tell,
		Done: ticked && !f.unchecked && !f.report.Blocked(),
		Now:  func() (*git.Snapshot, error) { err := t.w.look(ctx, t.a.Dir); return t.w.before, err },
	})
	if err != nil {
		t.w.Log.Warn("the tests could not run as they were", "error", err)
	}
	f.unchecked = f.unchecked || ctx.Err() != nil
	t.addFindings(f, found)
}
