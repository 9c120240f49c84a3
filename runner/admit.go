package runner

import (
	"context"
	"errors"
	"time"

	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// admit decides whether another turn may start, and for which task.
func (r *Run) admit(ctx context.Context) (rules.Decision, task.Task, error) {
	now := time.Now()
	r.calls = pace.ThisHour(r.calls, now)
	if b := rules.CoolDown(r.mem.Breaker, r.o.Policy, now); b.State != r.mem.Breaker.State {
		if err := errors.Join(r.saved.Wait(), r.moveBreaker(b)()); err != nil {
			return rules.Decision{}, task.Task{}, err
		}
	}
	plan := r.plan.Read()
	f := rules.Admission{Facts: r.facts(ctx, plan)}
	if plan.Total > 0 && plan.Remaining == 0 && !f.Interrupt.Now() && len(r.checks.Rows) > 0 {
		res, err := r.lastChecks(ctx)
		if err != nil {
			return rules.Decision{}, task.Task{}, err
		}
		f.Report, f.Unchecked = res.Proof.Report, res.Proof.Unchecked
		f.Interrupt = rules.StopRequest(ctx, r.inbox)
	}
	waiting, err := r.asked.Waiting(plan.List)
	if err != nil {
		return rules.Decision{}, task.Task{}, err
	}
	next, open := r.tasks.Choose(plan.List)
	if plan.Remaining > 0 && !open {
		f.Blocked, f.Never, f.PutAside = r.tasks.Stuck(plan.List, store.JournalReasons(r.plan.File.Edits))
	}
	f.Waiting, f.WaitingSince = r.asked.Idle(waiting, open || plan.Total > 0 && plan.Remaining == 0, now)
	if plan.Total > 0 && plan.Remaining == 0 && !f.Interrupt.Now() && !f.Unchecked && !f.Report.Blocked() {
		f.Review = r.reviewItems(ctx, f.Report)
	}
	f.LimitedUntil = r.freeAt(next, plan.List, now)
	f.Paced = r.pool.PaceHold(r.wanted(next, plan.List), now)
	f.Decided = r.past.decided
	d := rules.Admit(f)
	r.notes.Add(d)
	if d.Action == state.ActionStop {
		r.plan.Counts = plan
		// A failed or cut-off call may have left the rest uncommitted.
		if d.Exit == state.ExitComplete || d.Exit == state.ExitReview {
			r.commit(ctx, task.Task{}, r.origin(task.Task{}))
		}
		r.announce(d)
	}
	return d, next, nil
}

// lastChecks runs the required checks once more, because the plan has nothing left.
func (r *Run) lastChecks(ctx context.Context) (turn.Result, error) {
	work, done := r.inbox.CallContext(ctx)
	defer done()
	if err := r.takeBaseline(work, task.Task{}); err != nil || work.Err() != nil {
		return turn.Result{Proof: turn.Proof{Unchecked: work.Err() != nil}}, err
	}
	return r.check(work, task.Task{}, r.past.unfinished || r.mem.Iterations == 0)
}

// check runs the checks without a call. everything asks for all of them, for use when it
// is not known what has changed.
func (r *Run) check(ctx context.Context, t task.Task, everything bool) (turn.Result, error) {
	a := r.assignment(t)
	a.Part, a.Checks.Everything = turn.Check, everything
	return r.carryOut(ctx, a)
}

// takeBaseline records which checks fail before the agent works on the task. It returns no
// error when a person cuts it off.
func (r *Run) takeBaseline(ctx context.Context, t task.Task) error {
	a := r.assignment(t)
	if !r.checks.NeedBaseline(a.Origin) {
		return nil
	}
	a.Part = turn.Baseline
	_, err := r.carryOut(ctx, a)
	return err
}

// carryOut hands an assignment to the worker, and keeps what the result says about the
// checks.
func (r *Run) carryOut(ctx context.Context, a turn.Assignment) (turn.Result, error) {
	res, err := r.worker.Run(ctx, a, r.handleEvent)
	if err != nil {
		return res, err
	}
	r.checks = res.Checks
	return res, gate.SaveKnown(r.d.State.Dir(), r.checks)
}

// checkKilledTick runs the checks for a task that a killed call ticked, before other work builds on it.
func (r *Run) checkKilledTick(ctx context.Context) error {
	id, plan := r.past.unproved, r.plan.Read()
	if t, _ := plan.List.Find(id); id != "" && t.Done() && r.panel.Plan(t, r.tasks.Of(id).Review).Next("") != "" {
		r.reopen(turn.Reopen{Task: id, By: turn.ReopenUnchecked, Why: "nobody has reviewed what the killed call did"},
			turn.Plan{})
		return nil
	}
	if id == "" || !plan.IsDone(id) || plan.Remaining == 0 || !r.checks.Gated() {
		return nil // with nothing left, the checks run anyway
	}
	t := task.Task{ID: id}
	if a := r.assignment(t); r.checks.NeedBaseline(a.Origin) {
		return nil
	}
	work, done := r.inbox.CallContext(ctx)
	defer done()
	res, err := r.check(work, t, true)
	if err != nil || res.Proof.Unchecked {
		return err // admit says who ended the run
	}
	if rep := res.Proof.Report; rep.Blocked() {
		r.reopen(turn.Reopen{Task: id, By: turn.ReopenChecks,
			Why: "a required check fails after the call that was killed"}, turn.Plan{})
		r.notes.Feedback = append(r.notes.Feedback, rep.Feedback())
	}
	return nil
}

// reviewItems lists what a person has to look at before the run is complete. report is of the latest checks.
func (r *Run) reviewItems(ctx context.Context, report gate.Report) []state.ReviewItem {
	in, err := r.worker.Changed(ctx, r.assignment(task.Task{}).Dir)
	if err == nil && in == nil && r.openItems.InGit() {
		in, err = r.worker.Standing(ctx, r.assignment(task.Task{}))
	}
	if err != nil {
		r.d.Log.Warn("the findings cannot be looked at again", logs.KeyError, err)
	} else if in != nil {
		r.openItems.Look(*in, r.plan.Read())
	}
	return r.openItems.Open(r.mem.Contradiction, r.checks, report)
}

// facts gathers what both tables of rules look at.
func (r *Run) facts(ctx context.Context, plan turn.Plan) rules.Facts {
	return rules.Facts{
		Policy: r.o.Policy, Memory: r.mem, Plan: plan, HadPlan: r.plan.Had, Calls: r.calls,
		Started: r.past.started, Now: time.Now(), Window: r.d.Window, Interrupt: rules.StopRequest(ctx, r.inbox),
	}
}

// freeAt is when the first agent may work on a task, or review it; zero: now.
func (r *Run) freeAt(t task.Task, list task.List, now time.Time) time.Time {
	author := r.wanted(t, list).Agent
	if n := r.tasks.Of(t.ID).Review; n.Phase != "" && (r.crew.Apart() || !n.Kept) {
		return r.panel.FreeAt(t, n, author, now)
	}
	return r.pool.FreeAt(r.pool.Candidates(author), now)
}

// fallbacks names the agents that may take over after a turn that met a usage limit. There are
// none for a review: the panel has already tried all agents that may review.
func (r *Run) fallbacks(res turn.Result) []string {
	if res.Origin.Reviews {
		return nil
	}
	return r.pool.Candidates(r.wanted(res.Task, res.Work.Before.List).Agent)
}
