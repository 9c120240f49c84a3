package runner

import (
	"context"
	"errors"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/ledger"
	"ralph/runner/output"
	"ralph/runner/reviewers"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// prepareReview prepares the phase of its review that the task of a job waits for.
func (r *Run) prepareReview(j *crew.Job) turn.Assignment {
	a := r.assignment(j.Task)
	r.crew.Place(j, &a)
	j.Review = r.newReviewPhase(j.Task, a)
	a.Agent.Spec.Name = j.Review.Known.Agent // these are for observers
	a.Prompt.Done, a.Prompt.Total = j.Review.Known.Work.Before.Done, j.Review.Known.Work.Before.Total
	return a
}

// reviewers returns what asks the reviewers of a job; nil: its developer works.
func (r *Run) reviewers(j *crew.Job) crew.Look {
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

func (r *Run) newReviewPhase(t task.Task, a turn.Assignment) *reviewers.Phase {
	n, list := r.tasks.Of(t.ID), r.plan.Read().List
	now, _ := list.Find(t.ID)
	s := &reviewers.Phase{Request: reviewers.Request{From: a.Origin, Task: t,
		Review: n.Review,
		Story: roles.AIOSContext{ID: t.ID, Path: r.plan.File.Of(r.plan.Counts.List, t), Status: list.Word(now),
			Task: t.Title}, Plan: r.plan.File, Changed: r.plan.ChangedSince, Dir: r.d.Dir, Env: r.d.Env,
		Author: r.wanted(t, list).Agent, LogDir: a.LogDir, Checks: rules.ReviewChecks(n.Report),
		Findings: r.openItems.Texts(r.checks, n.Report), Emit: r.crew.Tell, Exclusive: r.crew.Alone,
		Called: func() error { r.calls.Calls++; return r.saveCalls() }}}
	s.Known = turn.Result{Agent: r.panel.First(s.Request), PlanName: r.plan.File.Name, Started: time.Now(),
		Checks: r.checks,
		Work:   turn.Work{Before: r.plan.Read()}, Proof: turn.Proof{Tries: n.Tries, Report: n.Report}}
	return s
}

// endInterrupted ends a phase of review that was cut off. Its calls still count against the budgets.
func (r *Run) endInterrupted(res finished) (rules.Decision, error) {
	goOn := rules.Decision{Action: state.ActionContinue}
	if res.job.Skip {
		r.skip(res.Task, true)
	}
	r.spend(res.Call.Usage)
	r.announceEnd(res.Result, goOn)
	return goOn, r.saveCalls()
}

// applyReview records a phase that ran to its end, and decides what follows from it.
func (r *Run) applyReview(ctx, keep context.Context, from finished) (rules.Decision, error) {
	res, t, reviewed := from.Result, from.Task, from.job.Review.Result
	if reviewed.Stuck != nil {
		return r.apply(ctx, keep, from)
	}
	if from.Reopened() { // the reviewers passed it, but it could not be merged
		r.sendBack(t, reviewed.Verdicts)
		from.Result = turn.Returned(res, r.plan.Read())
		d, err := r.apply(ctx, keep, from)
		if err != nil {
			return d, err
		}
		return r.afterTurn(keep, res, d), nil
	}
	r.spend(reviewed.Usage)
	r.mem.Iterations++
	d := r.applyVerdicts(t, reviewed.Outcome)
	res = turn.WithFinalPlan(res, r.plan.Read())
	r.plan.Counts, r.last = res.Proof.After, res
	if res.Proof.After.IsDone(t.ID) {
		r.commit(keep, t, res.Origin)
		r.plan.Pop(t.ID, r.d.State.Dir(), r.worker.Forget)
		r.tasks.Settled(t.ID, res.Origin.Run, state.ProofReview)
	}
	r.announceEnd(res, d)
	if err := ledger.SideBySide(r.saveCalls, r.out.Save); err != nil {
		return d, err
	}
	if err := from.job.Worker().Keep(keep, from.job.Dir(), output.KeptOf(res, d.Rule)); err != nil && keep.Err() == nil {
		return d, err
	}
	return r.afterTurn(keep, res, d), nil
}

// applyVerdicts does what follows from the verdicts of a phase.
func (r *Run) applyVerdicts(t task.Task, o roles.Outcome) rules.Decision {
	n := r.tasks.Of(t.ID)
	f := rules.ReviewFacts{Outcome: o, Refused: n.Review.Refused, Attempts: n.Attempts,
		Next: r.panel.Plan(t, n.Review).Next(n.Review.Phase)}
	d := rules.ConcludeReview(f, r.o.Policy)
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
		r.mark(t.ID, task.Done)
	}
	return d
}

// sendBack gives a task back to its developer, and forgets the lessons of the turn that was refused.
func (r *Run) sendBack(t task.Task, said []state.Verdict) {
	n := r.tasks.Of(t.ID)
	r.unlearn(n.Review.Run, n.Review.Iteration)
	n.Review.Phase, n.Review.Verdicts, n.Review.Run, n.Review.Iteration = "", said, "", 0
	n.Review.Kept = false
	r.mark(t.ID, task.Active)
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
	r.tasks.Of(t.ID).Aside.Marked = r.mark(t.ID, task.Blocked)
	r.tellOf(t, state.TaskChange{ID: t.ID, Title: t.Title, State: state.TaskPutAside, Why: why})
}

// concludeReview concludes from a phase of a review.
func (r *Run) concludeReview(ctx context.Context, from finished, d crew.Done) (rules.Decision, error) {
	ended := d.Err != nil || from.Cut != "" || from.job.Context().Err() != nil
	switch {
	case len(d.Conflict) > 0:
		n := r.tasks.Of(from.Task.ID)
		r.sendBack(from.Task, n.Review.Verdicts)
		goOn := rules.DecideCase(rules.CaseConflict,
			"its work conflicts with what has landed in the meantime: its developer joins both sides")
		r.announceEnd(from.Result, goOn)
		r.calls.Calls--
		return goOn, r.saveCalls()
	case d.Landed != "": // it counts, even if a skip or abort came in the meantime
		from.job.Skip = false
	case ended && from.job.Context().Err() != nil:
		return r.endInterrupted(from)
	case ended:
		goOn, err := r.endInterrupted(from)
		return goOn, errors.Join(d.Err, err)
	}
	keep, kept := r.inbox.AfterContext(ctx)
	defer kept()
	return r.applyReview(ctx, keep, from)
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
