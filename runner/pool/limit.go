package pool

import (
	"time"

	"ralph/runner/agent"
)

const (
	// LimitMargin is added to a reset time: vendors' clocks are not ours.
	LimitMargin = 5 * time.Second
	// limitPause is the shortest time between two calls that meet a limit.
	limitPause = time.Minute
	// limitUnknown is the first wait when no reset time was given.
	limitUnknown = 15 * time.Minute
)

// Met records a usage limit that a call of an agent met. limits is the number of such calls in a row.
func (p *Pool) Met(name string, o agent.Outcome, limits int, now time.Time) {
	if _, met := p.Limits[name]; !met { // the refusals so far were those of another agent
		limits = 1
	}
	p.Limits[name] = LimitEnd(o, limits, now)
}

// LimitEnd is when to try again: the reset plus a margin, and never less than
// a minute after a try that was refused again. Without a reset time the waits
// grow from a quarter of an hour to an hour.
func LimitEnd(o agent.Outcome, limits int, now time.Time) time.Time {
	if o.ResetsAt.IsZero() {
		return now.Add(min(limitUnknown*time.Duration(max(limits, 1)), time.Hour))
	}
	until := o.ResetsAt.Add(LimitMargin)
	least := now.Add(LimitMargin)
	if limits > 1 {
		least = now.Add(min(limitPause<<min(limits-2, 5), 30*time.Minute))
	}
	if until.Before(least) {
		return least
	}
	return until
}
