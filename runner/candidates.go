package runner

import (
	"context"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/crew/best"
	"ralph/runner/git"
	"ralph/runner/output"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/rules/bounds"
	"ralph/runner/rules/fixed"
	"ralph/runner/rules/reviews"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/turn/amend"
	"ralph/runner/writes"
)

// candidateCount is the number of candidates for the next attempt at a task: one until an attempt has failed.
func (r *Run) candidateCount(t task.Task) int {
	n, left := r.tasks.Of(t.ID), -1
	if t.ID == "" || n.Review.Phase != "" || n.Tries == 0 && n.Review.Refused == 0 {
		return 1
	}
	if r.o.MaxIterations > 0 {
		left = max(r.o.MaxIterations-r.mem.Iterations-len(r.crew.Jobs()), 0)
	}
	return best.Most(r.o.BestOf, left, max(r.o.CallsPerHour-r.calls.Calls, 0))
}

// startCandidates starts the next attempt at a task, with all of its candidates.
func (r *Run) startCandidates(ctx context.Context, next task.Task) (rules.Decision, error) {
	var jobs []*crew.Job
	var as []turn.Assignment
	release := func() {
		for _, j := range jobs {
			r.crew.Release(j)
		}
	}
	for k := range r.candidateCount(next) {
		j := r.crew.Take(next, r.mem.Iterations+1, k)
		a, who, err := r.assign(next)
		if err != nil && k > 0 {
			r.crew.Release(j)
			r.d.Log.Warn("there are fewer candidates", logs.KeyTask, next.ID, logs.KeyError, err)
			break
		}
		jobs = append(jobs, j)
		if err != nil {
			release()
			return fixed.Decide(fixed.Unusable, err.Error()), nil
		}
		n := r.tasks.Of(next.ID)
		n.Review, a.Then = r.panel.Begin(ctx, next, n.Review)
		r.announceAgent(next, who)
		r.begin(a)
		if err := r.counted.Wait(); err != nil {
			release()
			return rules.Decision{}, err
		}
		as = append(as, a)
	}
	r.showSlots()
	r.lost(r.out.Save()) // after a kill, resume needs the numbers of these iterations
	r.crew.Start(ctx, jobs, as)
	return rules.Decision{}, nil
}

// kept is the git state to keep at the end of an iteration that this rule decided.
func (t finished) kept(res turn.Result, rule string) git.State {
	k := output.KeptOf(res, rule)
	k.Afresh = t.afresh
	return k
}

// candidateLost records a candidate that lost to another one. Its cost counts against the budgets.
// Everything else about the attempt follows from the winner.
func (r *Run) candidateLost(ctx context.Context, res finished, d crew.Done) (rules.Decision, error) {
	r.pool.Pace.End(callKey(res.Origin))
	if d.Err != nil && d.Job.Context().Err() == nil {
		return rules.Decision{}, d.Err
	}
	res.Result = amend.Leaving(res.Result, res.Proof.After.Without([]string{res.Task.ID}))
	goOn := fixed.Decide(fixed.Loser, d.Lost)
	if !res.Call.Made && res.Call.NotStarted == "" {
		r.announceEnd(res.Result, goOn)
		r.calls.Calls--
		return goOn, r.saveCalls()
	}
	keep, kept := r.inbox.AfterContext(ctx)
	defer kept()
	r.spend(res.Call.Usage)
	r.mem.Iterations++
	f := rules.Conclusion{Facts: rules.Facts{Memory: r.mem}, Result: res.Result}
	bounds.MeetLimit(&f, &r.pool, nil, time.Now())
	r.announceEnd(res.Result, goOn)
	if err := writes.SideBySide(r.saveCalls, r.out.Save); err != nil {
		return goOn, err
	}
	if err := res.worker.Keep(keep, res.dir, output.KeptOf(res.Result, goOn.Rule)); err != nil && keep.Err() == nil {
		return goOn, err
	}
	return goOn, nil
}

// breakTie lets the judges of a task decide between candidates that are otherwise equal. It runs on a
// goroutine of its own. It returns nil, and the tie stands, if the task has no judges or one of their
// calls fails.
func (r *Run) breakTie(ctx context.Context, tied []crew.Tied) []best.Opinion {
	var all []best.Opinion
	for _, c := range tied {
		var s *reviewPhase
		r.crew.Alone(func() { s = r.tieReview(c) })
		if s == nil {
			return nil
		}
		var err error
		s.result, err = r.panel.Run(ctx, s.request)
		r.crew.Alone(func() {
			r.spend(s.result.Usage)
			r.out.Lost(r.saveCalls())
		})
		if err != nil || s.result.Cut != "" || s.result.Stuck != nil || ctx.Err() != nil {
			return nil
		}
		all = append(all, best.Opinion{Refused: !s.result.Passed || len(s.result.Missing) > 0, Score: s.result.Score})
	}
	return all
}

// tieReview prepares the judges' review of a candidate, and counts their first call; nil: the task has no
// judges.
func (r *Run) tieReview(c crew.Tied) *reviewPhase {
	t := c.Job.Task
	a := r.assignment(t)
	a.Origin = c.Job.Origin
	a.Origin.Role, a.Origin.Reviews = roles.Judge, true
	s := r.newReviewPhase(t, a)
	s.request.Review.Phase, s.request.Checks = roles.PhaseJudges, reviews.Checks(c.Result.Proof.Report)
	s.request.Dir, s.request.Env, s.request.Review.Base = c.Dir, c.Env, c.Base
	s.request.Emit, s.request.Exclusive = r.crew.Tell, r.crew.Alone
	if len(r.panel.Plan(t, s.request.Review).Of(roles.PhaseJudges)) == 0 {
		return nil
	}
	r.out.Lost(s.request.Called())
	return s
}
