package crew

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/carrier"
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/state"
)

const (
	fleetAnswers = 30 * time.Second // how long the run waits for the fleet when it starts
	fleetPause   = time.Second      // between two tries to follow the fleet
)

// report is what ralph-hub workers says about the fleet.
type report struct {
	Workers int            `json:"workers"`
	Busy    int            `json:"busy"`
	Slots   map[string]int `json:"slots"` // of workers, by their labels with commas between
}

// with counts the slots of workers that have all labels of the lists.
func (r report) with(labels ...string) (n int) {
	need := carrier.Labels(labels...)
	for has, count := range r.Slots {
		if carrier.Has(has, need) {
			n += count
		}
	}
	return n
}

// joinFleet starts ralph-hub, which reports the workers of the fleet, and is the server if there is no other.
func (c *Crew) joinFleet(ctx context.Context) error {
	if !c.o.OnFleet() {
		return nil
	}
	hub, err := sandbox.FindHub()
	if err != nil {
		return &slots.UnfitError{Why: err.Error()}
	}
	c.way = carrier.Way{Hub: hub, WorkerOptions: c.o.WorkerOptions}
	ctx, c.part = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan error)
	c.parted = make(chan struct{})
	go func() {
		defer close(c.parted)
		for tell := c.beforeLoop(first); ctx.Err() == nil; tell = c.inLoop {
			tell(ctx, report{}, c.followFleet(ctx, tell))
			select {
			case <-ctx.Done():
			case <-time.After(fleetPause):
			}
		}
	}()
	select {
	case err = <-first:
	case <-time.After(fleetAnswers):
		err = errors.New("it does not answer")
	}
	if err != nil {
		c.leaveFleet()
		return &slots.UnfitError{Why: fmt.Sprintf("the fleet cannot be used: %v", err)}
	}
	return nil
}

// teller takes a report, or why there is none.
type teller func(ctx context.Context, r report, err error)

// beforeLoop takes the first report, for which the run waits, and leaves the others to the loop.
func (c *Crew) beforeLoop(first chan<- error) teller {
	var once sync.Once
	return func(ctx context.Context, r report, err error) {
		tell := c.inLoop
		once.Do(func() {
			tell = func(ctx context.Context, _ report, err error) {
				c.fleet = r // nobody else is at work yet
				select {
				case first <- err:
				case <-ctx.Done():
				}
			}
		})
		tell(ctx, r, err)
	}
}

func (c *Crew) inLoop(ctx context.Context, r report, err error) {
	if err != nil {
		c.o.Log.Warn("the fleet is out of reach", "error", err)
	}
	select {
	case c.news <- News{Do: func() { c.fleet = r }}:
	case <-ctx.Done():
	}
}

// followFleet passes on the reports of ralph-hub until it ends, and returns why it ended.
func (c *Crew) followFleet(ctx context.Context, tell teller) error {
	in, held := io.Pipe() // ralph-hub ends with it
	defer held.Close()
	var text []byte
	why := "ralph-hub has ended"
	args := append([]string{c.way.Hub, "workers", "--watch", "--serve"}, c.way.Reach()...)
	_, err := ptyexec.Run(ctx, ptyexec.Command{Args: args, Env: c.o.Env, Stdin: in, Pipe: true}, func(p []byte) bool {
		text = append(text, p...)
		for {
			line, rest, whole := bytes.Cut(text, []byte("\n"))
			if !whole {
				return false
			}
			text = rest
			var r report
			if err := json.Unmarshal(line, &r); err != nil {
				why = strings.TrimPrefix(termtext.Line(string(line)), "ralph-hub: ")
				continue
			}
			tell(ctx, r, nil)
		}
	})
	return cmp.Or(err, errors.New(why))
}

func (c *Crew) leaveFleet() {
	if c.part != nil {
		c.part()
		<-c.parted
	}
}

// spare is how many more turns that need these labels the workers of the fleet can have.
func (c *Crew) spare(labels string) int {
	if c.o.Fleet == "" || c.fixed {
		return 0
	}
	all := min(c.fleet.with(c.o.FleetLabel), carrier.Most-c.o.Parallel) - c.fleetJobs()
	return max(min(all, c.fleet.with(c.o.FleetLabel, labels)), 0)
}

// fleetJobs are the turns in slots that come and go.
func (c *Crew) fleetJobs() (n int) {
	for _, j := range c.jobs {
		if j.Slot.N > c.static {
			n++
		}
	}
	return n
}

// grow opens a slot for the workers of the fleet, if they have room and there is none.
func (c *Crew) grow(ctx context.Context) {
	if len(c.free) > 0 && c.free[len(c.free)-1].N > c.static || c.spare("") == 0 {
		return
	}
	n := c.static + 1
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

// Fleet is the fleet, for people; nil: the run has none.
func (c *Crew) Fleet() *state.FleetStatus {
	if c.part == nil {
		return nil
	}
	return &state.FleetStatus{Workers: c.fleet.Workers, Slots: c.fleet.with(), Busy: c.fleet.Busy}
}

// Suits reports whether there is, or can be, a free slot on a worker that the task needs.
func (c *Crew) Suits(t task.Task) bool {
	return t.Worker == "" || !c.o.OnFleet() || c.spare(t.Worker) > 0 || len(c.fit(t)) > 0
}

// fit are the free slots that the task may have, those here first. A task that names its worker gets no other one.
func (c *Crew) fit(t task.Task) (all []*slots.Slot) {
	left := c.spare(t.Worker)
	for _, s := range c.free {
		switch {
		case s.N > c.static && left > 0:
			left--
		case s.N > c.static, t.Worker != "" && c.o.OnFleet() && c.ways[s.N].Kind != carrier.Fleet:
			continue
		}
		all = append(all, s)
	}
	return all
}

// CatchUp handles waiting reports of the fleet. No turn may be under way.
func (c *Crew) CatchUp() {
	for {
		select {
		case n := <-c.news:
			n.Do()
		default:
			return
		}
	}
}
