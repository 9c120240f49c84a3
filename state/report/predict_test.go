package report

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPredict_backTest_atLeast85PercentEndBeforeP90 plays runs whose tasks have the long
// tail of real ones, forecasts each after some of its tasks, and looks how it ended.
func TestPredict_backTest_atLeast85PercentEndBeforeP90(t *testing.T) {
	for name, draw := range map[string]func(*rand.Rand) float64{
		"long tail":    func(rng *rand.Rand) float64 { return math.Exp(5.5 + 0.7*rng.NormFloat64()) },
		"easy or hard": func(rng *rand.Rand) float64 { return (1 + float64(rng.IntN(2))*4) * (60 + 60*rng.Float64()) },
		"one in ten fails": func(rng *rand.Rand) float64 {
			return rng.ExpFloat64()*200 + 30 + float64(rng.IntN(10)/9)*1500
		},
	} {
		for _, known := range []int{5, 10, 40} {
			inTime, inBudget, inCalls := backTest(rand.New(rand.NewPCG(7, 7)), draw, known)
			t.Logf("%s, %d tasks known: %.0f %% end before P90, %.0f %% of the costs, %.0f %% of the calls", name, known, inTime, inBudget, inCalls)
			if inTime < 85 || inBudget < 85 || inCalls < 85 {
				t.Errorf("%s, %d tasks known: too few are below P90", name, known)
			}
		}
	}
}

// backTest returns how many of 200 runs ended before their P90, in percent.
func backTest(rng *rand.Rand, draw func(*rand.Rand) float64, known int) (inTime, inBudget, inCalls float64) {
	const runs = 300
	task := func() Sample {
		s := draw(rng)
		return Sample{Seconds: s, USD: s / 500 * (0.7 + 0.6*rng.Float64()), Calls: math.Ceil(s / 600 * (0.5 + rng.Float64()))}
	}
	for range runs {
		past := make([]Sample, known)
		for i := range past {
			past[i] = task()
		}
		open := 3 + rng.IntN(20)
		f, was := predict(past, open), Sample{}
		for range open {
			s := task()
			was.Seconds, was.USD, was.Calls = was.Seconds+s.Seconds, was.USD+s.USD, was.Calls+s.Calls
		}
		if was.Seconds <= f.P90.Seconds {
			inTime += 100.0 / runs
		}
		if was.USD <= f.P90.USD {
			inBudget += 100.0 / runs
		}
		if was.Calls <= f.P90.Calls {
			inCalls += 100.0 / runs
		}
	}
	return inTime, inBudget, inCalls
}
