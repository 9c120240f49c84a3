package crew

import (
	"context"
	"fmt"
	"slices"

	"ralph/runner/carrier"
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/state"
)

// joinFleet follows the fleet, if the options name one.
func (c *worktrees) joinFleet(ctx context.Context) error {
	if !c.o.OnFleet() {
		return nil
	}
	if err := c.fit(ctx); err != nil { // before a server starts
		return err
	}
	hub, err := sandbox.FindHub()
	if err != nil {
		return &slots.UnfitError{Why: err.Error()}
	}
	c.way = carrier.Way{Hub: hub, WorkerOptions: c.o.WorkerOptions}
	c.fleet, err = joinFleet(ctx, c.way, c.o.Env, c.o.Log, func() {
		select {
		case c.news <- News{Do: func() {}}: // wakes the run
		default: // it is awake
		}
	})
	if err != nil {
		return &slots.UnfitError{Why: fmt.Sprintf("the fleet cannot be used: %v", err)}
	}
	return nil
}

// spare is how many more turns the workers of the fleet can have.
func (c *worktrees) spare() int {
	if c.o.Fleet == "" || c.o.Fixed() {
		return 0
	}
	return max(min(c.fleet.Report().Slots, carrier.Most-c.o.Parallel)-c.fleetJobs(), 0)
}

// fleetJobs are the turns in slots that come and go.
func (c *worktrees) fleetJobs() (n int) {
	for _, j := range c.list {
		if j.slot.N > c.o.Parallel {
			n++
		}
	}
	return n
}

// grow opens a slot for the workers of the fleet, if they have room and there is none.
func (c *worktrees) grow(ctx context.Context) {
	if len(c.free) > 0 && c.free[len(c.free)-1].N > c.o.Parallel || c.spare() == 0 {
		return
	}
	n := c.o.Parallel + 1
	for c.ways[n].Kind != "" {
		n++
	}
	s, err := c.home.Open(ctx, n, "HEAD")
	if err != nil {
		c.o.Log.Warn("no slot for the fleet can be opened", "error", err)
		return
	}
	c.ways[n] = carrier.Carrier{Kind: carrier.Fleet}
	c.free = append(c.free, s)
}

func (c *worktrees) followed() *state.FleetStatus {
	if c.fleet == nil {
		return nil
	}
	r := c.fleet.Report()
	return &state.FleetStatus{Workers: r.Workers, Slots: r.Slots, Busy: r.Busy}
}

// Open implements Workspace.
func (c *worktrees) Open() bool { return len(c.list) < c.o.Parallel+c.fleetJobs() || c.spare() > 0 }

// Room implements Workspace.
func (c *worktrees) Room(ctx context.Context) (n int) {
	c.grow(ctx)
	left := c.spare()
	for _, s := range c.free {
		if s.N <= c.o.Parallel {
			n++
		} else if left > 0 {
			n, left = n+1, left-1
		}
	}
	return n
}

// take gives a job the first free slot: those here come first.
func (c *worktrees) giveSlot(j *Job) {
	j.slot, c.free = c.free[0], c.free[1:]
	j.way, j.away = c.ways[j.slot.N]
}

func (c *worktrees) release(j *Job) {
	if j.Worker != nil {
		j.Worker.Close()
	}
	c.free = append(c.free, j.slot)
	slices.SortStableFunc(c.free, func(a, b *slots.Slot) int { return a.N - b.N })
}
