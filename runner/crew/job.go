package crew

import (
	"context"
	"slices"
	"time"

	"ralph/runner/carrier"
	"ralph/runner/reviewers"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// Job is one thing to do for a task: a turn of its developer, or a phase of its review.
type Job struct {
	Task   task.Task
	Review *reviewers.Phase // nil: its developer works on it
	Origin state.Origin
	Since  time.Time

	Tool string // that the agent called last
	Host string // the machine that the turn is on, as its events say
	Skip bool   // a person has skipped the task

	slot    *slots.Slot     // nil in the checkout, and before Enter
	way     carrier.Carrier // to the machine of its turn
	away    bool            // it is another machine
	marked  bool            // see slots.Slot.Mark
	queued  bool            // its work waits for the merge queue
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

// Take makes a job for a task. number is the lowest that its iteration may have.
func (c *Crew) Take(t task.Task, number int) *Job {
	j := &Job{Task: t, Since: time.Now(), landing: make(chan landing, 1)}
	if !c.Apart() {
		c.last = 0 // the number of an iteration that did not count is used again
	}
	c.last = max(number, c.last+1)
	j.Origin.Iteration = c.last
	c.jobs = append(c.jobs, j)
	return j
}

// Of returns the job of a task; nil: nobody works on it.
func (c *Crew) Of(id string) *Job {
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

// Jobs returns how many jobs are under way.
func (c *Crew) Jobs() int { return len(c.jobs) }

// Release ends a job.
func (c *Crew) Release(j *Job) {
	c.space.release(j)
	if j.cancel != nil {
		j.cancel(nil)
	} else if j.Origin.Iteration == c.last { // it did not start: the next one gets its number
		c.last--
	}
	c.jobs = slices.DeleteFunc(c.jobs, func(other *Job) bool { return other == j })
}

// Start begins the turn of a job that was taken. Its News follow until its Done.
func (c *Crew) Start(ctx context.Context, j *Job, a turn.Assignment) {
	c.begin(ctx, j, a, func() Done { return c.space.carryOut(j) })
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

// Worker returns the worker that carries out the job; nil: the job ended before it got one.
func (j *Job) Worker() *turn.Worker { return j.worker }

// Dir returns the project's folder in the job's workspace.
func (j *Job) Dir() string { return j.a.Dir }

// Context ends with the job.
func (j *Job) Context() context.Context { return j.ctx }
