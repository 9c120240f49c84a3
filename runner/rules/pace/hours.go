package pace

import (
	"math"
	"time"
)

// Next is the first instant after t at which the clock shows this time of day, such as 07:30; zero if clock is empty. On a
// day on which a change of the clocks skips it, time.Date decides.
func Next(clock string, t time.Time) (at time.Time) {
	of, err := time.Parse("15:04", clock)
	if err != nil {
		return at // empty: the kind of the option has checked any other
	}
	y, m, d := t.Date()
	at = time.Date(y, m, d, of.Hour(), of.Minute(), 0, 0, t.Location())
	if !at.After(t) {
		at = time.Date(y, m, d+1, of.Hour(), of.Minute(), 0, 0, t.Location())
	}
	return at
}

// Left is how long a run may still work. most is the time that it may work in all; 0: no bound. end is when it ends at the
// latest; zero: no bound.
func Left(most time.Duration, started, end, now time.Time) time.Duration {
	left := time.Duration(math.MaxInt64)
	if most > 0 {
		left = most - now.Sub(started)
	}
	if !end.IsZero() {
		left = min(left, end.Sub(now))
	}
	return left
}
