package crew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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

	in    chan *Job
	end   context.CancelFunc
	ended chan struct{} // closed when its goroutine has ended
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

// openQueue starts the queue of a branch.
func openQueue(ctx context.Context, into *branch, check func(context.Context, []*Job) (turn.Result, error)) *queue {
	q := &queue{branch: into, check: check, in: make(chan *Job), ended: make(chan struct{})}
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
				waiting = append(waiting, j)
			}
		}
		for more := true; more; {
			select {
			case j := <-q.in:
				waiting = append(waiting, j)
			default:
				more = false
			}
		}
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
			proved = len(row) == 0 && !j.unchecked && j.work.Base == tip // its own turn has checked this very tree
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
