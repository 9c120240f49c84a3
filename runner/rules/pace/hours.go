package pace

// This file says between which times of day a run works.

import (
	"math"
	"time"

	"ralph/state/option"
)

// Hours are times of day, such as 23:00.
type Hours struct {
	StartAt string // empty: now
	Until   string // empty: no bound
}

// HoursWindow is the time in which one run works.
type HoursWindow struct{ Begin, End time.Time } // zero: no bound

// Options are the rows of the option table that fill h.
func (h *Hours) Options() []option.Row {
	return []option.Row{{
		Group: "Limits", Key: "START_AT", Flag: "start-at", Arg: "TIME", YAML: "limits.start_at", Kind: option.Clock,
		Field: &h.StartAt,
		Help:  "Time of day before which a new run makes no call, such as 23:00; empty means now.",
	}, {
		Group: "Limits", Key: "UNTIL", Flag: "until", Arg: "TIME", YAML: "limits.until", Kind: option.Clock,
		Field: &h.Until,
		Help:  "Time of day at which a run ends, such as 07:30; empty means no limit.",
	}}
}

// After is the next window that begins after now.
func (h Hours) After(now time.Time) (w HoursWindow) {
	if h.StartAt != "" {
		now = next(h.StartAt, now)
		w.Begin = now
	}
	if h.Until != "" {
		w.End = next(h.Until, now)
	}
	return w
}

// next is the first instant after t at which the clock shows this time of day. On a day
// on which a change of the clocks skips it, time.Date decides.
func next(clock string, t time.Time) time.Time {
	of, err := time.Parse("15:04", clock)
	if err != nil {
		return t // cannot happen: the kind of the option has checked it
	}
	y, m, d := t.Date()
	at := time.Date(y, m, d, of.Hour(), of.Minute(), 0, 0, t.Location())
	if !at.After(t) {
		at = time.Date(y, m, d+1, of.Hour(), of.Minute(), 0, 0, t.Location())
	}
	return at
}

// Ran is how long a run has worked. The wait for the beginning of the window does not count.
func (w HoursWindow) Ran(started, now time.Time) time.Duration {
	if started.Before(w.Begin) {
		started = w.Begin
	}
	return max(now.Sub(started), 0)
}

// Left is how long a run may still work. most is the time that it may work in all; 0: no bound.
func (w HoursWindow) Left(most time.Duration, started, now time.Time) time.Duration {
	left := time.Duration(math.MaxInt64)
	if most > 0 {
		left = most - w.Ran(started, now)
	}
	if !w.End.IsZero() {
		left = min(left, w.End.Sub(now))
	}
	return left
}
