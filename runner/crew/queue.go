package crew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"ralph/runner/gate"
	"ralph/runner/turn"
)

// queue combines finished work, checks it together, and lands what passes, on a goroutine of its own.
//
//	jobs --> pick, one on top of the other --> checks --> green: land all
//	             |                               |
//	             conflict: back                  red: the first half again, down to the one that goes back
type queue struct {
	branch *branch
	// check runs the required checks on the work of these jobs in the worktree of the branch, as it is now.
	check  func(context.Context, []*Job) (turn.Result, error)
	checks int // how often check has run
	// suspects is how many of the jobs that come next failed together, while none of them was tried alone.
	suspects int

	in     chan *Job
	coming atomic.Int32  // jobs that were announced, and are not here yet
	fewer  chan struct{} // gets something if one of them does not come
	end    context.CancelFunc
	ended  chan struct{} // closed when its goroutine has ended
}

// maxBatch is how many results are checked together at most.
const maxBatch = 8

// landing is the answer of the queue to a job.
type landing struct {
	landed   string      // the commit on the branch
	conflict []string    // files that conflict with what has landed
	failed   gate.Report // checks that fail with this work, and pass without it
	again    bool        // it waits for the next round
	err      error
}

// announce says that a job will come soon, or withdraw. A check waits a little for it: together they cost one check, one
// after the other two.
func (q *queue) announce() { q.coming.Add(1) }

// withdraw says that a job that was announced does not come.
func (q *queue) withdraw() {
	q.coming.Add(-1)
	select {
	case q.fewer <- struct{}{}:
	default: // it knows already
	}
}

// patience is how long a check waits for jobs that were announced.
const patience = 2 * time.Second

// openQueue starts the queue of a branch.
func openQueue(ctx context.Context, into *branch, check func(context.Context, []*Job) (turn.Result, error)) *queue {
	q := &queue{branch: into, check: check, in: make(chan *Job), fewer: make(chan struct{}, 1),
		ended: make(chan struct{})}
	ctx, q.end = context.WithCancel(context.WithoutCancel(ctx))
	go q.run(ctx)
	return q
}

// close ends the goroutine. No job may be in the queue.
func (q *queue) close() {
	q.end()
	<-q.ended
}

func (q *queue) run(ctx context.Context) {
	defer close(q.ended)
	var waiting []*Job
	for {
		if len(waiting) == 0 {
			select {
			case <-ctx.Done():
				return
			case j := <-q.in:
				waiting = q.take(waiting, j)
			}
		}
		waiting = q.gather(ctx, waiting)
		waiting = slices.DeleteFunc(waiting, func(j *Job) bool {
			if err := j.Ctx.Err(); err != nil { // somebody has ended it
				j.landing <- landing{err: err}
				return true
			}
			return false
		})
		if len(waiting) > 0 {
			waiting = q.answer(ctx, waiting)
		}
	}
}

// gather adds the jobs that are here, and those that come soon, unless the first one lands without a check.
func (q *queue) gather(ctx context.Context, waiting []*Job) []*Job {
	for late := time.After(patience); ; {
		select {
		case j := <-q.in:
			waiting = q.take(waiting, j)
			continue
		default:
		}
		if q.coming.Load() <= 0 {
			return waiting
		}
		if tip, _ := q.branch.Tip(ctx); len(waiting) == 1 && proves(waiting[0], tip) {
			return waiting
		}
		select {
		case j := <-q.in:
			waiting = q.take(waiting, j)
		case <-q.fewer:
		case <-late:
			return waiting
		}
	}
}

func (q *queue) take(waiting []*Job, j *Job) []*Job {
	q.coming.Add(-1)
	return append(waiting, j)
}

// proves reports whether the turn of a job has checked the tree that lands if nothing else does.
func proves(j *Job, tip string) bool { return !j.unchecked && j.work.Base == tip }

// answer answers the jobs of one round and returns those that wait for the next.
func (q *queue) answer(ctx context.Context, waiting []*Job) (next []*Job) {
	work, done := context.WithCancelCause(ctx)
	defer done(nil)
	for _, j := range waiting {
		defer context.AfterFunc(j.Ctx, func() { done(context.Cause(j.Ctx)) })() //nolint:contextcheck // each job has a context of its own
	}
	out, err := q.round(work, waiting)
	if errors.Is(err, errMoved) && ctx.Err() == nil {
		return waiting
	}
	for i, j := range waiting {
		switch {
		case err != nil && work.Err() != nil && j.Ctx.Err() == nil:
			next = append(next, j) // the round was cut off because another job was ended
		case err != nil:
			j.landing <- landing{err: cmp.Or(j.Ctx.Err(), err)}
		case out[i].again:
			next = append(next, j)
		default:
			j.landing <- out[i]
		}
	}
	return next
}

// round tries to land up to maxBatch jobs, in order. After an error, none of them has landed, unless the branch has moved.
// If they fail together, the next rounds have half as many, until the one that fails is alone.
func (q *queue) round(ctx context.Context, jobs []*Job) ([]landing, error) {
	out := make([]landing, len(jobs))
	tip, err := q.branch.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	most := maxBatch
	if q.suspects > 0 {
		most = max(q.suspects/2, 1)
	}
	var row []int // indexes of the jobs that are tried together
	at, proved := tip, false
	for i, j := range jobs {
		if len(row) == most {
			out[i].again = true
			continue
		}
		commit, conflict, err := q.branch.pick(ctx, at, j.work.Commit)
		if err != nil {
			return nil, fmt.Errorf("merge the work on %q: %w", j.Task.ID, err)
		}
		if out[i].conflict = conflict; len(conflict) == 0 {
			proved = len(row) == 0 && proves(j, tip)
			out[i].landed, at, row = commit, commit, append(row, i)
		}
	}
	if len(row) == 0 {
		return out, nil
	}
	var report gate.Report
	if !proved {
		if report, err = q.together(ctx, jobs, row); err != nil {
			return nil, err
		}
	}
	switch {
	case !report.Blocked():
		q.suspects = max(q.suspects-len(row), 0)
		return out, q.branch.Land(ctx, tip, at)
	case len(row) == 1:
		q.suspects, out[row[0]] = 0, landing{failed: report}
	default:
		q.suspects = len(row)
		for _, i := range row {
			out[i] = landing{again: true}
		}
	}
	return out, nil
}

// together runs the checks on the work of the jobs in row.
func (q *queue) together(ctx context.Context, jobs []*Job, row []int) (gate.Report, error) {
	var of []*Job
	for _, i := range row {
		of = append(of, jobs[i])
	}
	q.checks++
	res, err := q.check(ctx, of)
	if err == nil && res.Proof.Unchecked {
		err = fmt.Errorf("the checks were stopped: %w", context.Canceled)
	}
	return res.Proof.Report, err
}
