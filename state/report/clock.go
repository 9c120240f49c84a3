package report

import (
	"time"

	"ralph/state"
)

// Part is one use of a run's time.
type Part string

// The uses of time. Each moment of a run belongs to exactly one.
const (
	Agent   Part = "agent"
	Checks  Part = "checks"
	Judges  Part = "judges"
	Hooks   Part = "hooks"
	Limits  Part = "limits"
	Retries Part = "retries"
	Paused  Part = "paused"
	Idle    Part = "idle"
	Own     Part = "ralph"
)

// total is the key of the run's whole duration in Report.Time.
const total = "total"

// partRow is a row of the table of uses.
type partRow struct {
	Part    Part
	Meaning string
}

// parts is the table of uses, in the order of the page.
func parts() []partRow {
	return []partRow{
		{Agent, "the agent worked"},
		{Checks, "checks ran"},
		{Judges, "reviewers and judges looked"},
		{Hooks, "hooks ran"},
		{Limits, "waited for a usage limit or the next hour"},
		{Retries, "calls that failed and were made again, and the waits before"},
		{Paused, "paused by a person, or waited for an answer"},
		{Idle, "no runner was alive"},
		{Own, "ralph itself, and the delay between iterations"},
	}
}

// phases are the steps of a turn that are not ralph's own.
var phases = map[string]Part{state.PhaseAgent: Agent, state.PhaseChecking: Checks, state.PhaseHook: Hooks}

// clock splits the time between events. A clock that was set back stands still
// until it has caught up.
type clock struct {
	times   map[Part]time.Duration
	call    map[Part]time.Duration // what the current call has of that
	first   time.Time              // of the first event; zero: none
	now     time.Time              // of the latest event
	part    Part
	before  Part // the latest phase
	reviews bool // the call of this iteration looks at the work of another
}

// add counts the time up to the event, then sets the use of the time after it.
func (c *clock) add(e state.Event) {
	if _, starts := e.Data.(state.RunStart); starts && !c.now.IsZero() {
		c.part = Idle // since the last event of the runner before
	}
	c.until(e.Time)
	switch d := e.Data.(type) {
	case state.IterationStart:
		c.part, c.call, c.reviews = Own, nil, e.Reviews
	case state.Phase:
		c.before, c.part = c.part, Own
		if p, ok := phases[d.Name]; ok {
			c.part = p
		}
		if c.part == Agent && c.reviews {
			c.part = Judges
		}
	case state.Hook:
		c.part = c.before
	case state.Paused:
		c.part = Paused
	case state.Decision:
		c.part = waitsFor(d)
	case state.IterationEnd:
		if d.Failed && d.Action == state.ActionRetry {
			for part, took := range c.call {
				c.times[part] -= took
				c.times[Retries] += took
			}
		}
		c.part, c.call = waitsFor(d.Decision), nil
	case state.RunEnd:
		c.part = Idle
	case state.RunStart, state.Baseline, state.Check:
		c.part = Own
	}
}

// waitsFor is what the time after a decision is spent on.
func waitsFor(d state.Decision) Part {
	switch {
	case d.WakeAt.IsZero() || d.Action == state.ActionStop:
		return Own
	case d.Rule == state.RuleQuestion:
		return Paused
	case d.Action == state.ActionWait:
		return Limits
	}
	return Retries
}

// until counts the time up to t.
func (c *clock) until(t time.Time) {
	from := c.now
	if !t.After(from) {
		return
	}
	if c.now = t; from.IsZero() {
		c.first = t
		return
	}
	if c.times == nil {
		c.times = map[Part]time.Duration{}
	}
	if c.call == nil {
		c.call = map[Part]time.Duration{}
	}
	c.times[c.part] += t.Sub(from)
	c.call[c.part] += t.Sub(from)
}

// sums are the seconds of each part, and their total.
func (c *clock) sums() map[Part]float64 {
	sums := map[Part]float64{total: 0}
	for _, row := range parts() {
		sums[row.Part] = 0
	}
	whole := time.Duration(0)
	for part, took := range c.times {
		sums[part] = took.Seconds()
		whole += took
	}
	sums[total] = whole.Seconds()
	return sums
}
