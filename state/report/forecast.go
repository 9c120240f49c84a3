package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/state/view"
)

// Sample is what one finished task took, in this run or an earlier one.
type Sample struct {
	Seconds float64 `json:"seconds"` // above 0
	USD     float64 `json:"usd"`
	Calls   float64 `json:"calls"`
}

const (
	// enough is how many samples a forecast needs.
	enough = 5
	trials = 1000 // simulated ends of a run
)

// Forecast is what the open tasks may still take. P50 and P90 are taken for time, cost
// and calls each: half, or nine of ten, of the simulated runs need less.
type Forecast struct {
	Open     int    `json:"open"` // tasks
	TooEarly bool   `json:"too_early,omitempty"`
	P50      Sample `json:"p50"`
	P90      Sample `json:"p90"`
}

// predict simulates runs whose open tasks are like those of the past: times with a long
// tail, of which few tasks know mean and spread only roughly. Each run draws both anew.
// The same input gives the same forecast.
func predict(past []Sample, open int) Forecast {
	f := Forecast{Open: open, TooEarly: len(past) < enough}
	if f.TooEarly || open <= 0 {
		return f
	}
	rng := rand.New(rand.NewPCG(1, 2))
	n := float64(len(past))
	mean, square, longest := 0.0, 0.0, 0.0
	for _, s := range past {
		mean += math.Log(s.Seconds) / n
		longest = max(longest, s.Seconds)
	}
	for _, s := range past {
		d := math.Log(s.Seconds) - mean
		square += d * d
	}
	seconds, usd, calls := make([]float64, trials), make([]float64, trials), make([]float64, trials)
	for i := range trials {
		// The chi-squared distribution, by Wilson and Hilferty. One degree of freedom less than
		// for normal logarithms: some tails are longer.
		k := n - 2
		c := 1 - 2/(9*k) + rng.NormFloat64()*math.Sqrt(2/(9*k))
		spread := min(math.Sqrt(square/max(k*c*c*c, 0.1)), 2)
		middle := mean + rng.NormFloat64()*spread/math.Sqrt(n)
		for range min(open, 1000) {
			took := min(math.Exp(middle+spread*rng.NormFloat64()), 20*longest)
			like := past[rng.IntN(len(past))]
			seconds[i] += took
			usd[i] += took * like.USD / like.Seconds
			calls[i] += max(1, like.Calls*math.Exp(middle-mean))
		}
	}
	slices.Sort(seconds)
	slices.Sort(usd)
	slices.Sort(calls)
	at := func(n int) Sample { return Sample{seconds[n], usd[n], math.Round(calls[n])} }
	f.P50, f.P90 = at(trials/2), at(trials*9/10)
	return f
}

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
		return fmt.Sprintf("too early: fewer than %d tasks are done, in this run and earlier ones", enough)
	}
	say := func(s Sample) string {
		d := view.Seconds(s.Seconds).Round(time.Second)
		return view.Join(", ", view.Clock(now.Add(d), now)+" (in "+view.Span(d)+")", view.Dollars(s.USD),
			termtext.Count(int(s.Calls), "call"))
	}
	return fmt.Sprintf("%s open: done about %s · in 9 of 10 cases by %s", termtext.Count(f.Open, "task"),
		say(f.P50), say(f.P90))
}
