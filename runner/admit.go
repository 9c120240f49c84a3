package runner

import (
	"context"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// admit makes the job that may start now; nil: none may. The decision is then to stop, or to retry after a wait, a pause
// or a skip.
func (r *Run) admit(ctx context.Context) (*crew.Job, rules.Decision, error) {
	again := rules.Decision{Action: state.ActionRetry}
	if r.crew.Jobs() > 0 {
		t, ok := r.nextBeside(ctx)
		if !ok {
			return nil, rules.Decision{}, nil
		}
		return r.newJob(t), again, nil
	}
	own := func() turn.Assignment { return r.assignment(task.Task{}, r.ledger.Origin(task.Task{}), nil) }
	if err := r.crew.Refresh(ctx, own, r.handleEvent); err != nil && ctx.Err() == nil {
		return nil, again, err
	}
	d, t, err := r.mayStart(ctx)
	if err != nil || d.Action == state.ActionStop {
		return nil, d, err
	}
	if d.Action != state.ActionWait {
		d, t = r.skipDelayed(d, t)
	}
	switch {
	case d.Action == state.ActionWait:
		r.ledger.Announce(d)
		err := r.wait(ctx, d)
		if time.Now().Before(d.Until) {
			r.crew.EndDelays() // ralph resume ended the wait
		}
		return nil, again, err
	case r.inbox.TakePause():
		return nil, again, r.pause(ctx)
	case r.inbox.Take(state.RequestSkip) != "": // it arrived while no job was under way
		r.ledger.Tasks.Skip(t.ID)
		r.tellSkip(r.ledger.Origin(t), t)
		return nil, again, nil
	}
	return r.newJob(t), again, nil
}

func (r *Run) newJob(t task.Task) *crew.Job {
	n := r.ledger.Tasks.Of(t.ID)
	if n.Review.Kept && !r.crew.InWorktrees() {
		r.returnToDeveloper(t)
	}
	return r.crew.New(t, n, r.ledger.Origin(t))
}

// returnToDeveloper gives a task back to its developer: an earlier run did its work in a worktree, it still waits
// for review, and this run has no worktrees.
func (r *Run) returnToDeveloper(t task.Task) {
	l := r.ledger
	ref := slots.Ref((&slots.Home{Plan: l.Plan.File}).Key(t))
	l.SendBack(t, l.Tasks.Of(t.ID).Review.Verdicts)
	l.Notes.Tell([]string{"Your earlier work on this task is not in these files. It is the commit " + ref +
		": look at it with git show " + ref + ", and take over what is good."})
	l.Notes.Settle()
	l.Tell(l.Origin(t), state.TaskChange{ID: t.ID, Title: t.Title, State: state.TaskActive,
		Why: "its work was done in a worktree, and this run has none: its developer takes it over from " + ref})
}

// skipDelayed returns another task instead of one that has to wait, or the decision to wait.
func (r *Run) skipDelayed(d rules.Decision, t task.Task) (rules.Decision, task.Task) {
	now := time.Now()
	if !r.crew.Delayed(t.ID, now) {
		return d, t
	}
	other, ok := r.rule(now).Next(r.ledger.Plan.Read().List)
	if !ok {
		d = rules.DecideCase(rules.CaseRetries, "all tasks wait for their next try")
		d.Until = r.crew.NextStart(now)
	}
	return d, other
}

// rule says which tasks may run beside those under way.
func (r *Run) rule(now time.Time) crew.BesideRule {
	return crew.BesideRule{Busy: r.crew.Busy(), Any: r.o.ParallelAny, Skip: func(t task.Task) bool {
		n := r.ledger.Tasks.Of(t.ID)
		return n.Aside.Why != "" || n.Skipped || n.Waits || r.crew.Delayed(t.ID, now)
	}}
}

// nextBeside returns a task that may start beside those under way, if the limits of the run allow one.
func (r *Run) nextBeside(ctx context.Context) (task.Task, bool) {
	stop := r.inbox.StopRequest(ctx)
	if stop != nil || r.inbox.Has(state.RequestPause) || r.inbox.Has(state.RequestSkip) {
		return task.Task{}, false
	}
	now, plan := time.Now(), r.ledger.Plan.Read()
	if _, err := r.ledger.Asked.Waiting(plan.List); err != nil {
		return task.Task{}, false // mayStart returns this error once no job is under way
	}
	next, ok := r.rule(now).Next(plan.List)
	if !ok || r.crew.Room(ctx) == 0 {
		return next, false
	}
	f := rules.Admission{Facts: r.ledger.Facts(plan, stop)}
	r.addLimits(&f, next, plan.List, now)
	f.Memory.Iterations += r.crew.Jobs()
	return next, rules.Admit(f).Action == state.ActionContinue
}

// addLimits adds the time from which an agent that the task accepts may work again.
func (r *Run) addLimits(f *rules.Admission, t task.Task, list task.List, now time.Time) {
	wanted, _ := r.wanted(t, list)
	pool := &r.ledger.Pool
	f.LimitedUntil, f.Paced = pool.FreeAt(pool.Candidates(wanted.Agent), now), pool.PaceHold(wanted, now)
	if n := r.ledger.Tasks.Of(t.ID).Review; n.Phase != "" && (r.crew.InWorktrees() || !n.Kept) {
		f.LimitedUntil = r.panel.FreeAt(t, n, wanted.Agent, now)
	}
}

// mayStart asks the first rule table whether another job may start, and for which task.
func (r *Run) mayStart(ctx context.Context) (rules.Decision, task.Task, error) {
	l, now := r.ledger, time.Now()
	if err := l.CoolDown(now); err != nil {
		return rules.Decision{}, task.Task{}, err
	}
	plan := l.Plan.Read()
	f := rules.Admission{Facts: l.Facts(plan, r.inbox.StopRequest(ctx))}
	done := plan.Total > 0 && plan.Remaining == 0
	if done && !f.Interrupt.Now() && len(l.Checks.Rows) > 0 {
		res, err := r.lastChecks(ctx)
		if err != nil {
			return rules.Decision{}, task.Task{}, err
		}
		f.Report, f.Unchecked = res.Proof.Report, res.Proof.Unchecked
		f.Interrupt = r.inbox.StopRequest(ctx)
	}
	waiting, err := l.Asked.Waiting(plan.List)
	if err != nil {
		return rules.Decision{}, task.Task{}, err
	}
	next, open := l.Tasks.Choose(plan.List)
	if plan.Remaining > 0 && !open {
		f.Blocked, f.Never, f.PutAside = l.Tasks.Stuck(plan.List, store.JournalReasons(l.Plan.File.Edits))
	}
	f.Waiting, f.WaitingSince = l.Asked.Idle(waiting, open || done, now)
	if done && !f.Interrupt.Now() && !f.Unchecked && !f.Report.Blocked() {
		f.Review = r.reviewItems(ctx, f.Report)
	}
	r.addLimits(&f, next, plan.List, now)
	d := rules.Admit(f)
	l.Notes.Add(d)
	if d.Action == state.ActionStop {
		l.Plan.Counts = plan
		// A failed or cut-off call may have left the rest uncommitted.
		if d.Exit == state.ExitComplete || d.Exit == state.ExitReview {
			r.commit(ctx, task.Task{}, l.Origin(task.Task{}))
		}
		l.Announce(d)
	}
	return d, next, nil
}

// lastChecks runs the required checks once more, because the plan has nothing left.
func (r *Run) lastChecks(ctx context.Context) (turn.Result, error) {
	work, done := r.inbox.CallContext(ctx)
	defer done()
	none := task.Task{}
	if err := r.takeBaseline(work, none, r.ledger.Origin(none)); err != nil || work.Err() != nil {
		return turn.Result{Proof: turn.Proof{Unchecked: work.Err() != nil}}, err
	}
	return r.check(work, none, r.ledger.Unfinished || r.ledger.Memory.Iterations == 0)
}

// check runs the checks without a call. everything asks for all of them, for use when it
// is not known what has changed.
func (r *Run) check(ctx context.Context, t task.Task, everything bool) (turn.Result, error) {
	a := r.assignment(t, r.ledger.Origin(t), nil)
	a.Part, a.Checks.Everything = turn.Check, everything
	return r.carryOut(ctx, a)
}

// takeBaseline records which checks fail before the agent works on the task. It returns no
// error when a person cuts it off.
func (r *Run) takeBaseline(ctx context.Context, t task.Task, from state.Origin) error {
	a := r.assignment(t, from, nil)
	if !a.Checks.NeedBaseline(a.Origin) {
		return nil
	}
	a.Part = turn.Baseline
	_, err := r.carryOut(ctx, a)
	return err
}

// carryOut hands an assignment to the worker of the run itself, and keeps what the result says about the checks.
func (r *Run) carryOut(ctx context.Context, a turn.Assignment) (turn.Result, error) {
	res, err := r.worker.Run(ctx, a, r.handleEvent)
	if err != nil {
		return res, err
	}
	r.ledger.Checks = res.Checks
	return res, r.ledger.SaveChecks()
}

// checkKilledTick runs the checks for a task that a killed call ticked, before other work builds on it.
func (r *Run) checkKilledTick(ctx context.Context) error {
	l := r.ledger
	id, plan := l.UncheckedTick, l.Plan.Read()
	t := task.Task{ID: id}
	reopen := func(by, why string) {
		l.Reopen(l.Origin(t), turn.Reopen{Task: id, By: by, Why: why}, turn.Plan{})
	}
	if t, _ := plan.List.Find(id); id != "" && t.Done() && r.panel.Plan(t, l.Tasks.Of(id).Review).Next("") != "" {
		reopen(turn.ReopenUnchecked, "nobody has reviewed what the killed call did")
		return nil
	}
	if id == "" || !plan.IsDone(id) || plan.Remaining == 0 || !l.Checks.Gated() || l.Checks.NeedBaseline(l.Origin(t)) {
		return nil // with nothing left, the checks run anyway
	}
	work, done := r.inbox.CallContext(ctx)
	defer done()
	res, err := r.check(work, t, true)
	if err != nil || res.Proof.Unchecked {
		return err // mayStart says who ended the run
	}
	if rep := res.Proof.Report; rep.Blocked() {
		reopen(turn.ReopenChecks, "a required check fails after the call that was killed")
		l.Notes.Feedback = append(l.Notes.Feedback, rep.Feedback())
	}
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
