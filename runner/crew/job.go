package crew

import (
	"context"
	"slices"
	"time"

	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// Job is one turn under way.
type Job struct {
	Task   task.Task
	Slot   *slots.Slot
	Origin state.Origin
	Since  time.Time

	Tool string // that the agent called last
	Host string // the machine that the turn is on, as its events say
	Skip bool   // a person has skipped the task

	marked  bool // see slots.Slot.Mark
	queued  bool // its work waits for the merge queue
	a       turn.Assignment
	message string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	worker  *turn.Worker
	work    slots.Work
	landing chan landing
	// unchecked is true when no turn has checked the work as it is.
	unchecked bool
}

// Next is the number of the next iteration, which is not lower than this one.
func (c *Crew) Next(number int) int {
	if c == nil {
		return number
	}
	return max(number, c.last+1)
}

// Take reserves a slot for a task. number is the lowest that its iteration may have.
func (c *Crew) Take(t task.Task, number int) *Job {
	slot := c.free[0] // for a review, which is asked for here
	if fit := c.fit(t); len(fit) > 0 {
		slot = fit[0]
	}
	j := &Job{Task: t, Slot: slot, Since: time.Now(), landing: make(chan landing, 1)}
	c.free = slices.DeleteFunc(c.free, func(s *slots.Slot) bool { return s == slot })
	c.last = c.Next(number)
	j.Origin.Iteration = c.last
	c.jobs = append(c.jobs, j)
	return j
}

// Of returns the job of a task; nil: nobody works on it.
func (c *Crew) Of(id string) *Job {
	if c == nil {
		return nil
	}
	for _, j := range c.jobs {
		if j.Task.ID == id {
			return j
		}
	}
	return nil
}

// At is the job that an event comes from; nil: it has ended.
func (c *Crew) At(from state.Origin) *Job {
	for _, j := range c.jobs {
		if j.Task.ID == from.Task && j.Origin.Iteration == from.Iteration {
			return j
		}
	}
	return nil
}

func (c *Crew) drop(j *Job) {
	c.jobs = slices.DeleteFunc(c.jobs, func(other *Job) bool { return other == j })
}

// Jobs are all that are under way, in the order of their slots.
func (c *Crew) Jobs() []*Job {
	all := slices.Clone(c.jobs)
	slices.SortStableFunc(all, func(a, b *Job) int { return a.Slot.N - b.Slot.N })
	return all
}

// Release gives the slot back.
func (c *Crew) Release(j *Job) {
	if j.worker != nil {
		j.worker.Close()
	}
	if j.cancel != nil {
		j.cancel(nil)
	}
	c.free = append(c.free, j.Slot)
	slices.SortStableFunc(c.free, func(a, b *slots.Slot) int { return a.N - b.N })
	c.drop(j)
}

// Start begins the turn of a job that was taken. Its News follow until its Done.
func (c *Crew) Start(ctx context.Context, j *Job, a turn.Assignment) {
	c.begin(ctx, j, a, func() Done { return c.carryOut(j) }) //nolint:contextcheck // it has the job's
}

func (c *Crew) begin(ctx context.Context, j *Job, a turn.Assignment, work func() Done) {
	j.a, j.Origin = a, a.Origin
	j.message = c.message(a)
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	go func() {
		d := work()
		c.news <- News{Done: &d}
	}()
}

// End ends turns: that of a task, or all of them.
func (c *Crew) End(id string, by state.Request) {
	for _, j := range c.jobs {
		if (id == "" || j.Task.ID == id) && j.cancel != nil {
			j.cancel(&stop.Stopped{By: by})
		}
	}
}

// PutOff ends the turns of a task, because a person has put it off.
func (c *Crew) PutOff(id string, by state.Request) {
	for _, j := range c.jobs {
		if j.Task.ID == id {
			j.Skip = true
		}
	}
	c.End(id, by)
}
