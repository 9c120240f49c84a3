package crew

import (
	"context"
	"errors"
	"slices"

	"ralph/runner/turn"
)

// queue sends finished work through the merge queue, on a goroutine of its own, and answers its jobs.
type queue struct {
	merge mergeQueue
	in    chan *Job
	end   context.CancelFunc
	ended chan struct{} // closed when its goroutine has ended
}

// openQueue merges into a branch. check runs the checks on the work of these jobs together.
func openQueue(ctx context.Context, into *branch,
	check func(context.Context, []*Job) (turn.Result, error)) *queue {
	q := &queue{merge: mergeQueue{Branch: into}, in: make(chan *Job), ended: make(chan struct{})}
	ctx, q.end = context.WithCancel(context.WithoutCancel(ctx))
	go q.run(ctx, check)
	return q
}

// close ends the goroutine. No job may be in the queue.
func (q *queue) close() {
	q.end()
	<-q.ended
}

func (q *queue) run(ctx context.Context, check func(context.Context, []*Job) (turn.Result, error)) {
	defer close(q.ended)
	var waiting []*Job
	q.merge.Check = func(ctx context.Context, items []mergeItem) (turn.Result, error) {
		return check(ctx, slices.DeleteFunc(slices.Clone(waiting), func(j *Job) bool {
			return !slices.ContainsFunc(items, func(it mergeItem) bool { return it.Task == j.Task.ID })
		}))
	}
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
		waiting = slices.DeleteFunc(waiting, ended)
		if len(waiting) > 0 {
			waiting = q.round(ctx, waiting)
		}
	}
}

// ended answers a job that somebody has ended.
func ended(j *Job) bool {
	if err := j.ctx.Err(); err != nil {
		j.landing <- landing{err: err}
		return true
	}
	return false
}

// round answers the jobs of one round and returns those that wait for the next.
func (q *queue) round(ctx context.Context, waiting []*Job) (next []*Job) {
	items := make([]mergeItem, len(waiting))
	work, done := context.WithCancelCause(ctx)
	defer done(nil)
	for i, j := range waiting {
		items[i] = mergeItem{Task: j.Task.ID, Work: j.work, Unchecked: j.unchecked}
		defer context.AfterFunc(j.ctx, func() { done(context.Cause(j.ctx)) })() //nolint:contextcheck // each job has a context of its own
	}
	out, err := q.merge.Round(work, items)
	if errors.Is(err, errMoved) && ctx.Err() == nil {
		return waiting
	}
	for i, j := range waiting {
		switch {
		case err != nil && j.ctx.Err() != nil:
			j.landing <- landing{err: j.ctx.Err()}
		case err != nil && work.Err() != nil:
			next = append(next, j) // the round was cut off because another job was ended
		case err != nil:
			j.landing <- landing{err: err}
		case out[i].Again:
			next = append(next, j)
		default:
			j.landing <- landing{mergeOutcome: out[i]}
		}
	}
	return next
}
