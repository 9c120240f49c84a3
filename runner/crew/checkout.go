package crew

import (
	"context"

	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// checkout is the user's own checkout, which holds one job at a time. There is nothing to land.
type checkout struct {
	*Crew
	worker *turn.Worker // of the run itself: nobody else changes the checkout while it works
}

// InCheckout returns a crew of one, which works in the project itself.
func InCheckout(worker *turn.Worker, prefix func(task.Task) string) *Crew {
	c := &checkout{Crew: newCrew(prefix), worker: worker}
	c.space = c
	return c.Crew
}

func (c *checkout) carryOut(j *Job) Done {
	res, err := c.worker.Run(j.ctx, j.a, c.Tell)
	return Done{Job: j, Result: res, Err: err}
}

func (c *checkout) review(j *Job, look Look) Done {
	res, _, err := look(j.ctx, Place{Dir: j.a.Dir, Env: c.worker.Env})
	return Done{Job: j, Result: res, Err: err}
}

func (c *checkout) ready(ctx context.Context, a turn.Assignment) error { return c.worker.Ready(ctx, a) }

func (c *checkout) open() bool                                                            { return len(c.jobs) == 0 }
func (c *checkout) room(context.Context, task.Task) int                                   { return 1 - len(c.jobs) }
func (c *checkout) suits(task.Task) bool                                                  { return true }
func (c *checkout) enter(j *Job)                                                          { j.worker = c.worker }
func (c *checkout) place(*Job, *turn.Assignment)                                          {}
func (c *checkout) release(*Job)                                                          {}
func (c *checkout) settle(d Done, _ Known) turn.Result                                    { return d.Result }
func (c *checkout) sync(context.Context, func() turn.Assignment, func(state.Event)) error { return nil }
func (c *checkout) landed(context.Context, Done) string                                   { return "" }
func (c *checkout) unlanded(context.Context) (int, string)                                { return 0, "" }
func (c *checkout) status() ([]state.SlotStatus, *state.FleetStatus)                      { return nil, nil }
func (c *checkout) close(context.Context)                                                 {}
