package runner

import (
	"context"
	"errors"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/output"
	"ralph/runner/reviewers"
	"ralph/runner/roles"
	"ralph/runner/roles/aios"
	"ralph/runner/rules"
	"ralph/runner/rules/fixed"
	"ralph/runner/rules/reviews"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/turn/amend"
	"ralph/runner/writes"
	"ralph/state"
)

// reviewPhase is a review phase of a task: what the reviewers are asked, and what they said.
type reviewPhase struct {
	request reviewers.Request
	result  reviewers.Result
	known   turn.Result // what the run knew when the phase began
}

// newReviewPhase prepares the review phase that a task waits for.
func (r *Run) newReviewPhase(t task.Task, a turn.Assignment) *reviewPhase {
	n, list := r.tasks.Of(t.ID), r.plan.Read().List
	now, _ := list.Find(t.ID)
	s := &reviewPhase{request: reviewers.Request{From: a.Origin, Task: t,
		Review: n.Review,
		Story: aios.Context{ID: t.ID, Path: r.plan.File.Of(r.plan.Counts.List, t), Status: list.Word(now),
			Task: t.Title}, Plan: r.plan.File, Changed: r.plan.ChangedSince, Dir: r.d.Dir, Env: r.d.Env,
		Author: r.wanted(t, list).Agent, LogDir: a.LogDir, Checks: reviews.Checks(n.Report),
		Findings: r.openItems.Texts(r.checks, n.Report), Emit: r.handleEvent,
		Called: func() error { r.calls.Calls++; return r.saveCalls() }}}
	if s.request.Role().Answers {
		s.request.Findings, s.request.Context = r.asked.Asked(t.ID)
	}
	s.known = turn.Result{Agent: r.panel.First(s.request), PlanName: r.plan.File.Name, Started: time.Now(),
		Checks: r.checks,
		Work:   turn.Work{Before: r.plan.Read()}, Proof: turn.Proof{Tries: n.Tries, Report: n.Report}}
	return s
}

// fill puts what observers see of the phase into its assignment.
func (s *reviewPhase) fill(a *turn.Assignment) {
	a.Agent.Spec.Name = s.known.Agent
	a.Prompt.Done, a.Prompt.Total = s.known.Work.Before.Done, s.known.Work.Before.Total
}

// examine carries out the review phase that a task waits for.
func (r *Run) examine(ctx context.Context, t task.Task) (rules.Decision, error) {
	a := r.assignment(t)
	s := r.newReviewPhase(t, a)
	s.fill(&a)
	r.begin(a)
	if err := r.counted.Wait(); err != nil {
		return rules.Decision{}, err
	}
	var err error
	s.result, err = r.panel.Run(ctx, s.request)
	keep, kept := r.inbox.AfterContext(ctx)
	defer kept()
	res := finished{Result: s.request.Result(s.result, s.known), worker: r.worker, dir: r.d.Dir}
	if err != nil || res.Cut != "" || ctx.Err() != nil {
		res.skip = r.inbox.Take(state.RequestSkip) != ""
		d, saved := r.endInterrupted(res)
		return d, errors.Join(err, saved)
	}
	return r.reviewed(ctx, keep, res, s.result)
}

// endInterrupted ends a phase of review that was cut off. Its calls still count against the budgets.
func (r *Run) endInterrupted(res finished) (rules.Decision, error) {
	goOn := rules.Decision{Action: state.ActionContinue}
	if res.skip {
		r.skip(res.Task, true)
	}
	r.spend(res.Call.Usage)
	r.announceEnd(res.Result, goOn)
	return goOn, r.saveCalls()
}

// reviewed concludes from a phase.
func (r *Run) reviewed(ctx, keep context.Context, from finished, reviewed reviewers.Result) (rules.Decision, error) {
	res, t := from.Result, from.Task
	if reviewed.Stuck != nil {
		return r.conclude(ctx, keep, from)
	}
	if from.Reopened() { // the reviewers passed it, but it could not be merged
		r.sendBack(t, reviewed.Verdicts)
		from.Result = amend.Returned(res, r.plan.Read())
		d, err := r.conclude(ctx, keep, from)
		if err != nil {
			return d, err
		}
		return r.afterTurn(keep, res, d), nil
	}
	r.spend(reviewed.Usage)
	r.mem.Iterations++
	d := r.concludeReview(t, reviewed.Outcome)
	res = amend.Leaving(res, r.plan.Read())
	r.plan.Counts, r.last = res.Proof.After, res
	if res.Proof.After.IsDone(t.ID) {
		r.commit(keep, t, res.Origin)
		r.plan.Pop(t.ID, r.d.State.Dir(), r.worker.Forget)
		r.tasks.Settled(t.ID, res.Origin.Run, state.ProofReview)
	}
	r.announceEnd(res, d)
	if err := writes.SideBySide(r.saveCalls, r.out.Save); err != nil {
		return d, err
	}
	if err := from.worker.Keep(keep, from.dir, output.KeptOf(res, d.Rule)); err != nil && keep.Err() == nil {
		return d, err
	}
	return r.afterTurn(keep, res, d), nil
}

// concludeReview does what follows from the verdicts of a phase.
func (r *Run) concludeReview(t task.Task, o roles.Outcome) rules.Decision {
	n := r.tasks.Of(t.ID)
	if roles.ByPhase(n.Review.Phase).Answers {
		return r.advised(t, o)
	}
	f := reviews.Facts{Outcome: o, Refused: n.Review.Refused, Attempts: n.Attempts,
		Next: r.panel.Plan(t, n.Review).Next(n.Review.Phase)}
	d := reviews.Conclude(f, r.o.Policy)
	r.notes.NextPrompt = state.NextPrompt{Task: t.ID, Last: d.Reason, Review: d.Feedback}
	r.out.Status(func(s *state.Status) { s.Verdicts = o.Verdicts })
	r.openItems.Judged(t, o)
	if wrote, err := r.plan.Judged(t, o.Results(logs.Redact)); err != nil {
		r.d.Log.Warn("the verdicts are not in the plan", logs.KeyTask, t.ID, logs.KeyError, err)
	} else if wrote {
		r.worker.Forget()
	}
	refused := n.Review.Refused + 1
	switch {
	case d.PutAside:
		r.sendBack(t, o.Verdicts)
		r.putAside(t, d.Reason)
	case !o.Passed:
		r.sendBack(t, o.Verdicts)
		n.Review.Refused = refused
		r.tasks.Remember(t.ID, d.Feedback)
	case f.Next != "":
		n.Review.Phase, n.Review.Verdicts = f.Next, o.Verdicts
	default:
		r.mark(t.ID, task.Done, "")
	}
	return d
}

// advised hands on what the analyst said: the task goes back to its developer with an answer, or
// its question goes to a person.
func (r *Run) advised(t task.Task, o roles.Outcome) rules.Decision {
	left, err := r.asked.Advise(t, o)
	r.out.Lost(err)
	return reviews.Conclude(reviews.Facts{Outcome: o, Analyst: true, Left: left}, r.o.Policy)
}

// sendBack gives a task back to its developer, and forgets the lessons of the turn that was refused.
func (r *Run) sendBack(t task.Task, said []state.Verdict) {
	n := r.tasks.Of(t.ID)
	r.unlearn(n.Review.Run, n.Review.Iteration)
	n.Review.Phase, n.Review.Verdicts, n.Review.Run, n.Review.Iteration = "", said, "", 0
	n.Review.Kept = false
	r.mark(t.ID, task.Active, "")
}

// fetchBack gives a task back to its developer: an earlier run did its work in a worktree, it still waits
// for review, and this run has no worktrees.
func (r *Run) fetchBack(t task.Task) {
	ref := slots.Ref((&slots.Home{Plan: r.plan.File}).Key(t))
	r.sendBack(t, r.tasks.Of(t.ID).Review.Verdicts)
	r.notes.Tell([]string{"Your earlier work on this task is not in these files. It is the commit " + ref +
		": look at it with git show " + ref + ", and take over what is good."})
	r.notes.Settle()
	r.tellOf(t, state.TaskChange{ID: t.ID, Title: t.Title, State: state.TaskActive,
		Why: "its work was done in a worktree, and this run has none: its developer takes it over from " + ref})
}

// putAside gives a task up and marks it as blocked in the plan.
func (r *Run) putAside(t task.Task, why string) {
	r.tasks.PutAside(t.ID, why, "", r.plan.Read().List)
	r.tasks.Of(t.ID).Aside.Marked = r.mark(t.ID, task.Blocked, why)
	r.tellOf(t, state.TaskChange{ID: t.ID, Title: t.Title, State: state.TaskPutAside, Why: why})
}

// startReview begins the review phase that a task waits for, in a slot.
func (r *Run) startReview(ctx context.Context, t task.Task) (rules.Decision, error) {
	j := r.crew.Take(t, r.mem.Iterations+1)
	a := r.assignment(t)
	s := r.newReviewPhase(t, a)
	s.request.Emit, s.request.Exclusive = r.crew.Tell, r.crew.Alone
	s.fill(&a)
	r.begin(a)
	if err := r.counted.Wait(); err != nil {
		r.crew.Release(j)
		return rules.Decision{}, err
	}
	r.reviews[t.ID] = s
	kept := s.request.Review.Kept
	r.crew.Review(ctx, j, a, func(ctx context.Context, at crew.Place) (res turn.Result, land bool, err error) {
		if kept { // else it is in the user's files, from a run without worktrees
			s.request.Dir, s.request.Env, s.request.Review.Base = at.Dir, at.Env, at.Base
		}
		s.result, err = r.panel.Run(ctx, s.request)
		land = !s.request.Role().Answers && s.result.Passed && s.result.Stuck == nil && s.result.Cut == "" &&
			r.panel.Plan(t, s.request.Review).Next(s.request.Review.Phase) == ""
		return s.request.Result(s.result, s.known), land, err
	})
	r.showSlots()
	return rules.Decision{}, nil
}

// reviewedBeside concludes from a phase in a slot.
func (r *Run) reviewedBeside(ctx context.Context, from finished, d crew.Done, s *reviewPhase) (rules.Decision, error) {
	work := d.Job.Context()
	switch {
	case len(d.Conflict) > 0:
		n := r.tasks.Of(from.Task.ID)
		r.sendBack(from.Task, n.Review.Verdicts)
		goOn := fixed.Decide(fixed.Conflict,
			"its work conflicts with what has landed in the meantime: its developer joins both sides")
		r.announceEnd(from.Result, goOn)
		r.calls.Calls--
		return goOn, r.saveCalls()
	case d.Err != nil && work.Err() == nil:
		return rules.Decision{}, d.Err
	case d.Landed != "": // it counts, even if a skip or abort came in the meantime
		from.skip = false
	case from.Cut != "" || work.Err() != nil:
		return r.endInterrupted(from)
	}
	keep, kept := r.inbox.AfterContext(ctx)
	defer kept()
	return r.reviewed(ctx, keep, from, s.result)
}

// unlearn forgets the lessons of a turn.
func (r *Run) unlearn(run string, iteration int) {
	if iteration == 0 {
		return
	}
	wrote, err := r.learned.Forget(run, iteration)
	if err != nil {
		r.d.Log.Warn("lessons of a turn that was refused stay", logs.KeyIteration, iteration, logs.KeyError, err)
	}
	if wrote {
		r.worker.Forget()
	}
}
