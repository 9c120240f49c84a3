package pace

import (
	"time"

	"ralph/state"
)

// HourOf is the start of the local clock hour of t, or the last change of the clocks
// if that came later.
func HourOf(t time.Time) time.Time {
	t = t.Local().Round(0) // wall clock only
	hour := t.Add(-time.Duration(t.Minute())*time.Minute -
		time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	if change, _ := t.ZoneBounds(); hour.Before(change) {
		return change
	}
	return hour
}

// label is the date and hour that the clock shows. Labels sort by time.
func label(hour time.Time) string { return hour.Format("2006010215") }

// NextHour is the first instant at which the clock shows another hour than the
// one that begins at hour. Found by the clock's label: where the clocks are set
// back, two hours, or one and a half, carry the same one and share their budget.
func NextHour(hour time.Time) time.Time {
	next := hour
	for label(next) == label(hour) {
		_, change := next.ZoneBounds() // a change need not be at a full hour, nor by a whole hour
		next = next.Add(time.Hour - time.Duration(next.Minute())*time.Minute - time.Duration(next.Second())*time.Second)
		if !change.IsZero() && change.Before(next) {
			next = change
		}
	}
	return next
}

// ThisHour returns the counters for the hour of now: zero if c is of an earlier
// hour. Counters of a later hour (the clock was set back) are kept, so that a
// change of the clock never allows extra calls.
func ThisHour(c state.Calls, now time.Time) state.Calls {
	hour := HourOf(now)
	if c.Hour.IsZero() || label(c.Hour) < label(hour) {
		return state.Calls{Hour: hour}
	}
	c.Hour = hour
	return c
}
