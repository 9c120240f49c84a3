package runner

import (
	"context"
	"time"

	"ralph/runner/output"
	"ralph/runner/panel"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/rules/reviews"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/writes"
	"ralph/state"
)

// examine carries out the phase that a task waits for: others than its developer look at it.
func (r *Run) examine(ctx context.Context, t task.Task) (rules.Decision, error) {
	n, a := r.tasks.Of(t.ID), r.assignment(t)
	s := panel.Sitting{From: a.Origin, Task: t, Review: n.Review, Story: r.plan.File.Of(r.plan.Counts.List, t), Author: r.wanted(t, r.plan.Read().List).Agent, LogDir: a.LogDir,
		Checks: reviews.Checks(r.last.Proof.Report), Findings: r.review.Texts(), Emit: r.heard,
		Called: func() error { r.calls.Calls++; return r.d.State.SaveCalls(r.calls) }}
	a.Agent.Spec.Name = r.panel.First(s)
	r.begin(a)
	if err := r.counted.Wait(); err != nil {
		return rules.Decision{}, err
	}
	started := time.Now()
	sat, err := r.panel.Hold(ctx, s)
	keep, kept := r.inbox.AfterContext(ctx)
	defer kept()
	res := s.Result(sat, turn.Result{Agent: a.Agent.Spec.Name, PlanName: r.plan.File.Name, Started: started, Checks: r.checks,
		Work: turn.Work{Before: r.plan.Read()}, Proof: turn.Proof{Worked: n.Worked, Tries: n.Tries, Report: r.last.Proof.Report}})
	if sat.Stuck != nil {
		return r.conclude(ctx, keep, turned{Result: res, worker: r.worker, dir: r.d.Dir})
	}
	r.mem.Usage, r.calls.Tokens = r.mem.Usage.Add(sat.Usage), r.calls.Tokens+sat.Usage.Total()
	if err != nil || res.Cut != "" || ctx.Err() != nil {
		if r.inbox.Take(state.RequestSkip) != "" {
			r.skip(t, true)
		}
		r.announceEnd(res, rules.Decision{Action: rules.ActionContinue})
		return rules.Decision{Action: rules.ActionContinue}, err
	}
	r.mem.Iterations++
	d := r.concludeReview(t, sat.Outcome)
	res.Proof.After = r.plan.Read()
	r.plan.Counts, r.last = res.Proof.After, res
	if res.Proof.After.IsDone(t.ID) {
		r.commit(keep, t, a.Origin)
		r.tasks.Settled(t.ID)
	}
	r.announceEnd(res, d)
	if err := writes.SideBySide(func() error { return r.d.State.SaveCalls(r.calls) }, r.out.Save); err != nil {
		return d, err
	}
	if err := r.worker.Keep(keep, r.d.Dir, output.KeptOf(res, d.Rule)); err != nil && keep.Err() == nil {
		return d, err
	}
	return r.after(keep, res, d), nil
}

// concludeReview does what follows from the verdicts of a phase.
func (r *Run) concludeReview(t task.Task, o roles.Outcome) rules.Decision {
	n := r.tasks.Of(t.ID)
	f := reviews.Facts{Outcome: o, Refused: n.Review.Refused, Attempts: n.Attempts, Next: r.panel.Plan(t, n.Review).Next(n.Review.Phase)}
	d := reviews.Conclude(f, r.o.Policy)
	r.notes.NextPrompt = state.NextPrompt{Task: t.ID, Last: d.Reason, Feedback: d.Feedback}
	n.Review.Verdicts = o.Verdicts
	r.out.Status(func(s *state.Status) { s.Verdicts = o.Verdicts })
	r.review.Judged(t, o)
	switch {
	case d.PutAside:
		r.putAside(t, d.Reason)
	case !o.Passed:
		n.Review.Phase, n.Review.Refused = "", n.Review.Refused+1
		r.tasks.Remember(t.ID, d.Feedback)
		r.mark(t.ID, task.Active)
	case f.Next != "":
		n.Review.Phase = f.Next
	default:
		r.mark(t.ID, task.Done)
	}
	return d
}

// putAside gives a task up, and says so in the plan.
func (r *Run) putAside(t task.Task, why string) {
	r.tasks.PutAside(t.ID, why, "", r.plan.Read().List)
	r.tasks.Of(t.ID).Aside.Marked = r.mark(t.ID, task.Blocked)
	r.tellOf(t, state.TaskChange{ID: t.ID, Title: t.Title, State: "put aside", Why: why})
}
