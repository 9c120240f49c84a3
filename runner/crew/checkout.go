package crew

import (
	"context"

	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// checkout is the user's own checkout, which holds one job at a time. There is nothing to land.
type checkout struct {
	*jobs
	worker *turn.Worker // of the run itself: nobody else changes the checkout while it works
}

// InCheckout returns a crew of one, which works in the project itself.
func InCheckout(worker *turn.Worker, prefix func(task.Task) string) *Crew {
	b := newJobs(prefix)
	return &Crew{b, &checkout{b, worker}}
}

func (c *checkout) carryOut(j *Job, look ReviewFunc) Done {
	d := Done{Job: j}
	if look != nil {
		d.Result, _, d.Err = look(j.Ctx, Place{Dir: j.Assignment.Dir, Env: c.worker.Env})
	} else {
		d.Result, d.Err = c.worker.Run(j.Ctx, j.Assignment, c.Tell)
	}
	return d
}

func (c *checkout) Ready(ctx context.Context, a turn.Assignment) error { return c.worker.Ready(ctx, a) }

func (c *checkout) InWorktrees() bool                                            { return false }
func (c *checkout) Open() bool                                                   { return len(c.list) == 0 }
func (c *checkout) Room(context.Context) int                                     { return 1 - len(c.list) }
func (c *checkout) Place(*Job, *turn.Assignment)                                 {}
func (c *checkout) Settle(d Done, _ func() turn.Plan, _ turn.Checks) turn.Result { return d.Result }
func (c *checkout) Refresh(context.Context, func() turn.Assignment, func(state.Event)) error {
	return nil
}
func (c *checkout) Advance(context.Context, Done) string             { return "" }
func (c *checkout) Unlanded(context.Context) (int, string)           { return 0, "" }
func (c *checkout) Status() ([]state.SlotStatus, *state.FleetStatus) { return nil, nil }
func (c *checkout) Close(context.Context)                            {}
func (c *checkout) giveSlot(j *Job)                                  { j.Worker = c.worker }
func (c *checkout) release(*Job)                                     {}
