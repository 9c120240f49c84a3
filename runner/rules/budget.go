package rules

import (
	"time"

	"ralph/state"
)

// HourOf is the start of the local clock hour of t.
func HourOf(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, time.Local)
}

// NextHour is the first instant at which the clock shows another hour than the
// one that begins at hour. Found by the clock's label: where the clocks are set
// back, two hours, or one and a half, carry the same one and share their budget.
func NextHour(hour time.Time) time.Time {
	label := hour.Format("2006010215")
	next := hour
	for next.Format("2006010215") == label {
		_, change := next.ZoneBounds() // not every one comes at a full hour, or is of a whole one
		next = next.Add(time.Hour - time.Duration(next.Minute())*time.Minute - time.Duration(next.Second())*time.Second)
		if !change.IsZero() && change.Before(next) {
			next = change
		}
	}
	return next
}

// ThisHour returns the counters as they are valid at now: those of an hour
// that is over count nothing. Counters of a later hour (the clock was set
// back) are kept, so that a jump of the clock never gives calls away.
func ThisHour(c state.Calls, now time.Time) state.Calls {
	hour := HourOf(now)
	if c.Hour.IsZero() || c.Hour.Before(hour) {
		return state.Calls{Hour: hour}
	}
	if c.Hour.After(hour) {
		c.Hour = hour
	}
	return c
}
