// Package forecast predicts what the open tasks will take, from what earlier tasks took.
package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sample is what one finished task took, in this run or an earlier one.
type Sample struct {
	Seconds float64 `json:"seconds"` // above 0
	USD     float64 `json:"usd"`
	Calls   float64 `json:"calls"`
}

const (
	// Enough is how many samples a forecast needs.
	Enough = 5
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

// Predict simulates runs whose open tasks are like those of the past: times with a long
// tail, of which few tasks know mean and spread only roughly. Each run draws both anew.
// The same input gives the same forecast.
func Predict(past []Sample, open int) Forecast {
	f := Forecast{Open: open, TooEarly: len(past) < Enough}
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
