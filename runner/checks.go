package runner

// This file runs the checks of the project without a call.

import (
	"context"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// takeBaseline records which checks fail before the agent works on the task. It returns no
// error when a person cuts it off.
func (r *Run) takeBaseline(ctx context.Context, t task.Task, from state.Origin) error {
	a := r.assignment(t, from, nil)
	if !a.Checks.NeedBaseline(a.Origin) {
		return nil
	}
	a.Part = turn.Baseline
	_, err := r.check(ctx, a)
	return err
}

// check hands an assignment to the worker of the run itself, and keeps what the result says about the checks.
func (r *Run) check(ctx context.Context, a turn.Assignment) (turn.Result, error) {
	res, err := r.worker.Run(ctx, a, r.handleEvent)
	if err == nil {
		r.ledger.Checks = res.Checks
		err = r.ledger.SaveChecks()
	}
	return res, err
}

// lastChecks runs the required checks once more, because the plan has nothing left.
func (r *Run) lastChecks(ctx context.Context) (turn.Result, error) {
	work, done := r.inbox.Until(ctx, state.RequestSkip, state.RequestAbort)
	defer done()
	l, none := r.ledger, task.Task{}
	if err := r.takeBaseline(work, none, l.Origin(none)); err != nil || work.Err() != nil {
		return turn.Result{Proof: turn.Proof{Unchecked: work.Err() != nil}}, err
	}
	a := r.assignment(none, l.Origin(none), nil)
	a.Part, a.Checks.Everything = turn.Check, l.Unfinished || l.Memory.Iterations == 0 // nobody knows what has changed
	return r.check(work, a)
}

// checksElsewhere adds the results of the checks on other machines to those of the last checks, unless a required one fails.
// ralph stop ends the wait for them, and the run; ralph skip ends only the wait.
func (r *Run) checksElsewhere(ctx context.Context, f *rules.Admission) {
	if r.d.Elsewhere == nil || len(f.Report.AtEnd().Blocking()) > 0 || f.Report.Mode == gate.ModeReport {
		return
	}
	l, none := r.ledger, task.Task{}
	work, done := r.inbox.Until(ctx, state.RequestSkip, state.RequestAbort, state.RequestStop)
	defer done()
	left := pace.Left(l.Policy.MaxDuration, l.Started, l.Until, time.Now())
	if f.Interrupt != nil {
		left = 0
	}
	work, cancel := context.WithTimeout(work, left)
	defer cancel()
	all := r.d.Elsewhere(work, func(what string) {
		r.handleEvent(state.NewEvent(l.Origin(none), time.Now(), state.Phase{Name: state.PhaseChecking, Check: what}))
	})
	f.Report.Results = append(f.Report.Results, all...)
	r.inbox.Take(state.RequestSkip)
	f.Interrupt = r.inbox.StopRequest(ctx)
	if f.Interrupt != nil && slices.ContainsFunc(all, func(x gate.Result) bool { return x.Verdict == gate.VerdictSkipped }) {
		f.Interrupt.Lenient = false
	}
}

// checkKilledTick runs the checks for a task that a killed call ticked, before other work builds on it. If the call left
// no work, its task is open again.
func (r *Run) checkKilledTick(ctx context.Context) error {
	l := r.ledger
	id, plan := l.UncheckedTick, l.Plan.Read()
	if id == "" || !plan.IsDone(id) {
		return nil
	}
	t := task.Task{ID: id}
	reopen := func(by, why string) {
		l.Reopen(l.Origin(t), turn.Reopen{Task: id, By: by, Why: why}, turn.Plan{})
	}
	ticked, _ := plan.List.Find(id)
	if ticked.Done() && r.panel.Plan(ticked, l.Tasks.Of(id).Review).Next("") != "" {
		reopen(turn.ReopenUnchecked, "nobody has reviewed what the killed call did")
		return nil
	}
	if r.worker.Untouched(ctx, r.assignment(t, l.Origin(t), nil), l.KilledCallBegan) {
		reopen(turn.ReopenConfirm, "the call that ticked it was killed, and has left no work")
		rec := l.Tasks.Of(id)
		rec.CutOff, rec.Ticked = false, l.Memory.Iterations+1
		return nil
	}
	l.KilledTitle = ticked.Title
	if plan.Remaining == 0 {
		return nil // with nothing left, the checks run anyway
	}
	settle := func(proof string) { // the next iteration begins where the killed one did, so undo and diff find the work there
		if next := l.Memory.Iterations + 1; r.worker.Begun.Iteration == next {
			l.Tasks.Of(id).Work = []state.Work{{Run: l.RunID, Iteration: next, By: audit.ByTurn}}
			l.Tasks.Settled(id, l.RunID, proof)
		}
	}
	if !l.Checks.Gated() || l.Checks.NeedBaseline(l.Origin(t)) {
		settle(state.ProofWord)
		return nil
	}
	work, done := r.inbox.Until(ctx, state.RequestSkip, state.RequestAbort)
	defer done()
	a := r.assignment(t, l.Origin(t), nil)
	a.Part, a.Checks.Everything = turn.Check, true
	res, err := r.check(work, a)
	if err != nil || res.Proof.Unchecked {
		return err // admit says who ended the run
	}
	if rep := res.Proof.Report; rep.Blocked() {
		l.KilledTitle = ""
		reopen(turn.ReopenChecks, "a required check fails after the call that was killed")
		l.Notes.Feedback = append(l.Notes.Feedback, rep.Feedback())
		return nil
	}
	settle(state.ProofChecks)
	return nil
}

// reviewItems lists what a person has to look at before the run is complete. report is of the latest checks.
func (r *Run) reviewItems(ctx context.Context, report gate.Report) []state.ReviewItem {
	l, a := r.ledger, r.assignment(task.Task{}, r.ledger.Origin(task.Task{}), nil)
	in, err := r.worker.Changed(ctx, a.Dir)
	if err == nil && in == nil && l.Items.InGit() {
		in, err = r.worker.StillBroken(ctx, a)
	}
	if err != nil {
		r.d.Log.Warn("the findings cannot be looked at again", logs.KeyError, err)
	} else if in != nil {
		l.Items.Look(*in, l.Plan.Read())
	}
	return l.Items.Open(l.Memory.Contradiction, l.Checks, report)
}
