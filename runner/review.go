package runner

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ralph/runner/crew"
	"ralph/runner/hooks"
	"ralph/runner/reviewers"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// prepareReview prepares the phase of its review that the task of a job waits for.
func (r *Run) prepareReview(j *crew.Job) turn.Assignment {
	l, t, n := r.ledger, j.Task, j.Record
	a, plan := r.assignment(t, j.Origin, j), l.Plan.Read()
	now, _ := plan.List.Find(t.ID)
	author, _ := r.wanted(t, plan.List)
	s := &reviewers.Phase{Request: reviewers.Request{From: a.Origin, Task: t, Review: n.Review,
		Story: roles.AIOSContext{ID: t.ID, Path: l.Plan.File.Of(l.Plan.Counts.List, t), Status: plan.List.Word(now),
			Task: t.Title}, Plan: l.Plan.File, Changed: l.Plan.ChangedSince, Dir: r.d.Dir, Env: r.d.Env,
		Author: author.Agent, LogDir: a.LogDir, Checks: rules.ReviewChecks(n.Report), Summary: n.Said,
		Findings: l.Items.Texts(l.Checks, n.Report), Emit: r.crew.Tell, Exclusive: r.crew.OnRunGoroutine,
		Called: func() error { l.Spend(1, state.Usage{}); return l.SaveCalls() }}}
	s.Known = turn.Result{Agent: r.panel.First(s.Request), PlanName: l.Plan.File.Name, Started: time.Now(),
		Checks: l.Checks,
		Work:   turn.Work{Before: plan}, Proof: turn.Proof{Tries: n.Tries, Report: n.Report}}
	j.Review = s
	a.Agent.Spec.Name, a.Prompt.Done, a.Prompt.Total = s.Known.Agent, plan.Done, plan.Total // for observers
	return a
}

// reviewers returns what asks the reviewers of a job; nil: its developer works.
func (r *Run) reviewers(j *crew.Job) crew.ReviewFunc {
	if j.Review == nil {
		return nil
	}
	s, kept := j.Review, j.Review.Request.Review.Kept
	return func(ctx context.Context, at crew.Place) (res turn.Result, land bool, err error) {
		if kept { // else the work is in the user's files
			s.Request.Dir, s.Request.Env, s.Request.Review.Base = at.Dir, at.Env, at.Base
		}
		s.Result, err = r.panel.Run(ctx, s.Request)
		land = s.Result.Passed && s.Result.Stuck == nil && s.Result.Cut == "" &&
			r.panel.Plan(j.Task, s.Request.Review).Next(s.Request.Review.Phase) == ""
		return s.Turn(), land, err
	}
}

// concludeReview concludes from a phase of a review.
func (r *Run) concludeReview(ctx, keep context.Context, done crew.Done, res turn.Result) (rules.Decision, error) {
	l, j, n, said := r.ledger, done.Job, done.Job.Record, done.Job.Review.Result
	ended := j.Ctx.Err() != nil
	switch {
	case len(done.Conflict) > 0:
		l.SendBack(j.Task, n.Review.Verdicts)
		return r.uncounted(res, 1, rules.DecideCase(rules.CaseConflict,
			"its work conflicts with what has landed in the meantime: its developer joins both sides"))
	case done.Landed == "" && (done.Err != nil || res.Cut != "" || ended): // else it counts, even if a skip came meanwhile
		if j.Skip {
			l.Tasks.Skip(j.Task.ID)
			r.tellSkip(j.Origin, j.Task)
		}
		l.Spend(0, res.Call.Usage) // of calls that were made
		goOn, err := r.uncounted(res, 0, rules.Decision{Action: state.ActionContinue})
		if !ended {
			err = errors.Join(done.Err, err)
		}
		return goOn, err
	case said.Stuck != nil:
		return r.apply(ctx, keep, j, res)
	case res.Reopened(): // the reviewers passed it, but it could not be merged
		l.SendBack(j.Task, said.Verdicts)
		return r.apply(ctx, keep, j, turn.Returned(res, l.Plan.Read()))
	}
	next := r.panel.Plan(j.Task, n.Review).Next(n.Review.Phase)
	d := rules.ConcludeReview(rules.ReviewFacts{Outcome: said.Outcome, Refused: n.Review.Refused, Attempts: n.Attempts,
		Next: next}, r.o.Policy)
	l.Spend(0, said.Usage)
	n.Verdicts = append(n.Verdicts, said.Verdicts...)
	l.ApplyReview(j.Origin, j.Task, said.Outcome, next, d)
	res = turn.WithFinalPlan(res, l.Plan.Read())
	l.Plan.Counts, l.Last = res.Proof.After, res
	var commit hooks.Verdict
	if res.Proof.After.IsDone(j.Task.ID) {
		var made string
		made, commit = r.commit(keep, j.Task, j.Origin)
		j.Commit = cmp.Or(j.Commit, made)
		l.Plan.Pop(j.Task.ID, r.d.State.Dir())
		l.Tasks.Settled(j.Task.ID, l.RunID, state.ProofReview)
	}
	l.End(res, d)
	if err := errors.Join(l.SaveCalls(), r.out.Save()); err != nil {
		return d, err
	}
	return r.finish(keep, j, res, d, commit)
}
