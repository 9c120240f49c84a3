package report

import (
	"slices"
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

// Span is a stretch of time with one use.
type Span struct {
	Part      Part      `json:"part"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Iteration int       `json:"iteration,omitempty"`
}

// clock splits the time between events. A clock that was set back stands still
// until it has caught up.
type clock struct {
	spans     []Span
	first     time.Time // of the first event; zero: none
	now       time.Time // of the latest event
	part      Part
	before    Part // the latest phase
	reviews   bool // the call of this iteration looks at the work of another
	iteration int
	call      int // the first span of the current call
}

// add counts the time up to the event, then sets the use of the time after it.
func (c *clock) add(e state.Event) {
	if _, starts := e.Data.(state.RunStart); starts && !c.now.IsZero() {
		c.part = Idle // since the last event of the runner before
	}
	c.until(e.Time)
	switch d := e.Data.(type) {
	case state.IterationStart:
		c.part, c.iteration, c.call = Own, e.Iteration, len(c.spans)
		c.reviews = e.Reviews
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
			for i := range c.spans[min(c.call, len(c.spans)):] {
				c.spans[c.call+i].Part = Retries
			}
		}
		c.part, c.iteration, c.call = waitsFor(d.Decision), 0, len(c.spans)
	case state.RunEnd:
		c.part, c.iteration = Idle, 0
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
	if n := len(c.spans); n > c.call && c.spans[n-1].Part == c.part && c.spans[n-1].Iteration == c.iteration {
		c.spans[n-1].To = t
		return
	}
	c.spans = append(c.spans, Span{c.part, from, t, c.iteration})
}

// sums are the seconds of each part, and their total.
func (c *clock) sums() map[Part]float64 {
	sums := map[Part]float64{total: 0}
	for _, row := range parts() {
		sums[row.Part] = 0
	}
	for _, s := range c.spans {
		took := s.To.Sub(s.From).Seconds()
		sums[s.Part] += took
		sums[total] += took
	}
	return sums
}

// maxSpans bounds the picture.
const maxSpans = 400

// picture leaves out spans that are too short to see, and joins their neighbours.
func (c *clock) picture() []Span {
	all := slices.Clone(c.spans)
	if len(all) == 0 {
		return []Span{}
	}
	whole := all[len(all)-1].To.Sub(all[0].From)
	for least := whole / 2000; len(all) > maxSpans; least *= 2 {
		var kept []Span
		for _, s := range all {
			last := len(kept) - 1
			switch {
			case last < 0 || s.To.Sub(s.From) >= least && kept[last].Part != s.Part:
				kept = append(kept, s)
			default:
				kept[last].To = s.To
			}
		}
		all = kept
	}
	return all
}
