package report

import (
	"fmt"
	"math"
	"time"

	"ralph/logs/termtext"
	"ralph/state/view"
	"ralph/state/view/forecast"
)

// Sample is what one task that is done took.
type Sample = forecast.Sample

// Forecast is what the open tasks may still take.
type Forecast struct{ forecast.Forecast }

// Samples are the tasks that were done, with their part of the waits for limits.
func (r *Report) Samples() []Sample {
	worked := r.Time[Agent] + r.Time[Checks] + r.Time[Retries] + r.Time[Own]
	waits := 1.0
	if worked > 0 {
		waits += r.Time[Limits] / worked
	}
	var all []Sample
	for _, t := range r.Tasks {
		if t.State == TaskDone && t.Seconds > 0 && !math.IsInf(t.Seconds*waits, 0) {
			all = append(all, Sample{Seconds: t.Seconds * waits, USD: t.USD, Calls: float64(len(t.Iterations))})
		}
	}
	return all
}

// Brief is the forecast in a few words; empty: nothing is open.
func (f *Forecast) Brief(now time.Time) string {
	switch {
	case f == nil || f.Open <= 0:
		return ""
	case f.TooEarly:
		return "too early for a forecast"
	}
	say := func(s Sample) string {
		return view.Join(" ", view.Clock(now.Add(view.Seconds(s.Seconds).Round(time.Second)), now), view.Dollars(s.USD))
	}
	return "done about " + say(f.P50) + " · 9 in 10: " + say(f.P90)
}

// Text is the forecast in one line, reckoned from now; empty: nothing is open.
func (f *Forecast) Text(now time.Time) string {
	switch {
	case f == nil || f.Open <= 0:
		return ""
	case f.TooEarly:
		return fmt.Sprintf("too early: fewer than %d tasks are done, in this run and earlier ones", forecast.Enough)
	}
	say := func(s Sample) string {
		d := view.Seconds(s.Seconds).Round(time.Second)
		return view.Join(", ", view.Clock(now.Add(d), now)+" (in "+view.Span(d)+")", view.Dollars(s.USD),
			termtext.Count(int(s.Calls), "call"))
	}
	return fmt.Sprintf("%s open: done about %s · in 9 of 10 cases by %s", termtext.Count(f.Open, "task"),
		say(f.P50), say(f.P90))
}
