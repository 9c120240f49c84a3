package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/hooks"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// conclude decides what follows from a job that is over, and waits until the next one may start.
func (r *Run) conclude(ctx context.Context, done crew.Done) (rules.Decision, error) {
	made := r.ledger.Memory.Iterations
	d, err := r.settle(ctx, done)
	r.crew.Release(done.Job)
	r.showSlots()
	switch {
	case err != nil || d.Action == state.ActionStop:
	case r.crew.InWorktrees():
		if d.Until.After(time.Now()) {
			r.crew.Delay(done.Job.Task.ID, d.Until)
		}
	default: // the next task would find the half-done files of this one
		now := r.ledger.Memory.Iterations
		if d.Until.IsZero() && now > made && (r.o.MaxIterations == 0 || now < r.o.MaxIterations) {
			d.Until = time.Now().Add(r.o.Delay)
		}
		err = r.wait(ctx, d)
	}
	return d, err
}

// settle takes over the Result of a job, decides what follows from it, and moves the user's checkout forward to what has
// landed.
func (r *Run) settle(ctx context.Context, done crew.Done) (rules.Decision, error) {
	l, j := r.ledger, done.Job
	if err := l.WaitCounted(); err != nil { // of a turn that ended before its call
		return rules.Decision{}, err
	}
	if r.crew.Jobs() == 1 && r.inbox.Take(state.RequestSkip) != "" { // it arrived at the last moment
		j.Skip = true
	}
	res := r.crew.Settle(done, l.Plan.Read, l.Checks)
	if done.Landed != "" {
		l.Tell(j.Origin, state.Commit{OID: done.Landed, Landed: done.Branch,
			Files: max(res.Work.Change.Count, len(done.Files)), Refused: done.Refused()})
	}
	if done.Err == nil && j.Review == nil { // reviewers run no checks
		l.Checks = res.Checks
		if err := l.SaveChecks(); done.Landed != "" {
			r.lost(err) // the plan first says what has landed
		} else {
			done.Err = err
		}
	}
	keep, kept := r.inbox.AfterContext(ctx) // an abort also ends what git does after the call
	defer kept()
	conclude := r.concludeTurn
	if j.Review != nil {
		conclude = r.concludeReview
	}
	d, err := conclude(ctx, keep, done, res)
	if err != nil || done.Landed == "" {
		return d, err
	}
	if why := r.crew.Advance(ctx, done); why != "" {
		r.d.Log.Warn("the checkout does not follow", logs.KeyReason, why)
		l.Tell(j.Origin, state.Finding{Source: state.FoundByChecks,
			Text: "your files stay as they are: " + why + "; what is finished is on " + done.Branch})
	}
	return r.hooksAfterMerge(ctx, done, d), nil
}

// concludeTurn concludes from a turn of a developer. The error of the turn is ralph's own, and ends the run, unless the
// job was ended.
func (r *Run) concludeTurn(ctx, keep context.Context, done crew.Done, res turn.Result) (rules.Decision, error) {
	l, j := r.ledger, done.Job
	r.panel.Collect(j.Dir(), j.Task)
	if broken := r.inbox.Broken(); broken != nil {
		return rules.Decision{}, broken
	}
	if done.Err != nil && j.Context().Err() == nil {
		for _, o := range res.Proof.Reopen { // the next run has no reason to doubt these ticks
			l.Reopen(j.Origin, o, res.Work.Before)
		}
		return rules.Decision{}, done.Err
	}
	for _, q := range r.inbox.OfAgent() {
		l.Tell(j.Origin, state.Finding{Source: state.FoundByAudit, Name: "request", Text: r.inbox.Who(q)})
	}
	if j.Skip {
		l.Tasks.Skip(j.Task.ID)
		if res.Cut == "" && !res.Proof.After.IsDone(j.Task.ID) { // a turn that the skip has cut off reports that itself
			r.tellSkip(j.Origin, j.Task)
		}
	}
	if !res.Call.Made && res.Call.NotStarted == "" { // ended before the call
		return r.uncounted(res, 1, rules.DecideCase(rules.CaseNotCalled, "a person ended it before the agent was called"))
	}
	res, hints := l.Asked.Limit(res)
	return r.apply(ctx, keep, j, res, hints)
}

// uncounted ends a job that is no iteration. It gives calls back to the hour.
func (r *Run) uncounted(res turn.Result, calls int, d rules.Decision) (rules.Decision, error) {
	r.ledger.End(res, d)
	r.ledger.Spend(-calls, state.Usage{})
	return d, r.ledger.SaveCalls()
}

// apply decides what follows from a turn, and records it. It commits and keeps the work unless keep is cancelled. hints are
// what the agent is told about its questions.
func (r *Run) apply(ctx, keep context.Context, j *crew.Job, res turn.Result, hints []string) (rules.Decision, error) {
	l, damaged := r.ledger, res.Work.Damaged
	if l.StateLost {
		damaged = append([]string{l.Plan.Rel(r.d.State.Dir())}, damaged...)
	}
	l.Take(res, len(damaged) > 0)
	r.worker.RememberLosses(res)
	var commit hooks.Verdict
	if !res.Proof.Report.Blocked() && res.Call.Outcome.Class.Success() {
		commit = r.commit(keep, j.Task, j.Origin, res.OthersFinished()...)
		l.Plan.Pop(j.Task.ID, r.d.State.Dir(), l.Changed)
	}
	var fallbacks []string
	if j.Review == nil { // else the panel has already tried all agents that may review
		wanted, _ := r.wanted(j.Task, res.Work.Before.List)
		fallbacks = l.Pool.Candidates(wanted.Agent)
	}
	f := l.Conclusion(res, damaged, fallbacks, r.inbox.StopRequest(ctx))
	if res.Proof.After.Remaining == 0 && res.Proof.After.Error == "" && !f.Interrupt.Now() {
		f.Review = r.reviewItems(keep, res.Proof.Report)
	}
	d := rules.Conclude(f)
	l.Apply(res, d, damaged, hints)
	if err := l.Save(res); err != nil {
		return rules.Decision{}, err
	}
	l.End(res, d)
	return r.finish(keep, j, res, d, commit)
}

// finish keeps the state of the files after a job, and runs the hooks of the points that it reached. commit is what the
// hooks before its commit said.
func (r *Run) finish(keep context.Context, j *crew.Job, res turn.Result, d rules.Decision, commit hooks.Verdict) (rules.Decision, error) {
	if w := j.Worker(); w != nil && res.Call.Made {
		if err := w.Keep(keep, j.Dir(), output.KeptOf(res, d.Rule)); err != nil && keep.Err() == nil {
			return rules.Decision{}, err
		}
	}
	return r.hooksAfter(keep, res, d, commit, j.Veto), nil
}

// tellSkip reports that a person has skipped a task.
func (r *Run) tellSkip(from state.Origin, t task.Task) {
	if t.ID != "" {
		r.ledger.Tell(from, state.TaskChange{ID: t.ID, Title: t.Title, State: state.TaskSkipped,
			Why: r.inbox.Who(state.RequestSkip)})
	}
}

// commit commits what the agent left uncommitted; others are the titles of other tasks that it finished. It returns what
// the hooks before it said.
func (r *Run) commit(ctx context.Context, t task.Task, from state.Origin, others ...string) (v hooks.Verdict) {
	if !r.o.AutoCommit {
		return v
	}
	l := r.ledger
	refused := func() bool { return v.Block || v.Skip || v.Abort }
	done, err := r.worker.Commit(ctx, r.assignment(t, from, nil), output.CommitOf(r.prefix(t), t, from, others...),
		func(commit func() (state.Commit, error)) (state.Commit, error) {
			v = r.runHooks(ctx, hookMoment{Point: hooks.PreCommit, From: from, Task: t, More: func(f *hooks.Facts) {
				f.Agent, f.Files = l.Last.Agent, l.Last.Work.Change.Files
			}})
			if refused() {
				return state.Commit{}, errors.New(v.Why)
			}
			return commit()
		})
	left := done.Refused
	switch {
	case err != nil: // a failed commit does not end the run
		left = []state.Refusal{{File: output.AllWork, Why: err.Error()}}
		if slices.Contains(l.Uncommitted, left[0]) { // it was said already
			return v
		}
		r.d.Log.Warn("nothing was committed", logs.KeyError, err)
		if !refused() { // else it is what the user's hook wants
			l.Items.Uncommitted = err.Error()
		}
		done = state.Commit{Why: err.Error()}
	case done.OID != "":
		l.Uncommitted, l.Items.Uncommitted = output.Committed(l.Uncommitted), ""
	case len(left) == 0:
		return v
	}
	l.Uncommitted = output.Uncommitted(l.Uncommitted, left)
	r.out.Status(func(s *state.Status) { s.Uncommitted = l.Uncommitted })
	l.Tell(from, done)
	return v
}
