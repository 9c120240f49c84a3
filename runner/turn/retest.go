package turn

import (
	"context"

	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/state"
)

// Proven is what Worker.Retest gets: a turn whose checks have run.
type Proven struct {
	Assignment
	Before git.Snapshot                  // the workspace before the agent call
	Done   bool                          // the task got its tick, and no check takes it back
	Report gate.Report                   // of the checks after the call
	Suite  func() *gate.Suite            // makes what runs checks
	Now    func() (*git.Snapshot, error) // looks at the workspace as it is now
	Tell   func(state.Payload)           // reports an event of the turn
}

// retest asks Worker.Retest whether the checks pass for another reason than the work.
func (t *turn) retest(ctx context.Context, f *facts) {
	if t.w.Retest == nil || !f.observed || t.checks.Mode == gate.ModeReport {
		return
	}
	ticked := t.a.Task.ID == "" || f.left.IsDone(t.a.Task.ID) && !f.before.IsDone(t.a.Task.ID)
	found, err := t.w.Retest(ctx, Proven{
		Assignment: t.a, Before: f.found, Report: f.report, Suite: t.suite, Tell: t.tell,
		Done: ticked && !f.unchecked && !f.report.Blocked(),
		Now:  func() (*git.Snapshot, error) { err := t.w.look(ctx, t.a.Dir); return t.w.before, err },
	})
	if err != nil {
		t.w.Log.Warn("the tests could not run as they were", "error", err)
	}
	f.unchecked = f.unchecked || ctx.Err() != nil
	t.addFindings(f, found)
}
