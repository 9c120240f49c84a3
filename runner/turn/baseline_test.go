package turn

import (
	"context"
	"testing"
	"time"

	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// Checks that a person ended say nothing about those that did not run: the next
// task's baseline must not be made from them.
func TestBaseline_checksThatWereEnded_areNoBaseline(t *testing.T) {
	w := &Worker{}
	a := Assignment{V: Version, Dir: t.TempDir(), Part: Check, Origin: state.Origin{Run: "r", Task: "a"}, Checks: Checks{
		Scope: gate.ScopeTask, Everything: true,
		Rows: []gate.Check{{Name: "fast", Command: "true"}, {Name: "slow", Command: "sleep 60"}},
	}}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, &stop.Stopped{By: state.RequestSkip})
	defer cancel()
	if _, err := w.Run(ctx, a, func(state.Event) {}); err != nil {
		t.Fatal(err)
	}
	w.before = &git.Snapshot{} // Keep looks at the workspace after every turn
	a.Part, a.Origin.Task, a.Checks.Rows[1].Command = Baseline, "b", "echo red; exit 1"
	res, err := w.Run(t.Context(), a, func(state.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := res.Checks.Baseline.Checks["slow"]; !ok {
		t.Errorf("the baseline knows only the checks that had ended: %+v", res.Checks.Baseline.Checks)
	}
}

// Nor does a report from before the latest agent call.
func TestBaseline_reportFromBeforeTheCall_isNotUsed(t *testing.T) {
	w := &Worker{before: &git.Snapshot{}, report: gate.Report{Results: []gate.Result{{Name: "test", Passed: true, Verdict: gate.VerdictPassed}}}}
	dir := t.TempDir()
	tn := &turn{w: w, a: Assignment{Dir: dir}, emit: func(state.Event) {}}
	if err := tn.observe(t.Context(), &facts{call: call{transcript: &agent.Transcript{}}}); err != nil {
		t.Fatal(err)
	}
	if w.report.Results != nil {
		t.Error("the report of the checks before the call counts as one of the workspace after it")
	}
}
