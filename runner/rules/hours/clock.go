package hours

import (
	"time"

	"ralph/state"
)

// HourOf is the start of the local clock hour of t, or a change of the clocks
// that came in the midst of it.
func HourOf(t time.Time) time.Time {
	t = t.Local().Round(0) // by the clock on the wall alone
	hour := t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	if change, _ := t.ZoneBounds(); hour.Before(change) {
		return change
	}
	return hour
}

// label is what the clock shows of an hour; later hours have greater ones.
func label(hour time.Time) string { return hour.Format("2006010215") }

// NextHour is the first instant at which the clock shows another hour than the
// one that begins at hour. Found by the clock's label: where the clocks are set
// back, two hours, or one and a half, carry the same one and share their budget.
func NextHour(hour time.Time) time.Time {
	next := hour
	for label(next) == label(hour) {
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
	if c.Hour.IsZero() || label(c.Hour) < label(hour) {
		return state.Calls{Hour: hour}
	}
	c.Hour = hour
	return c
}
