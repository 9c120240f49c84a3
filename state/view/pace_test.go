package view_test

import (
	"math"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

func TestPace_longRun_keepsEveryTokenInAFewSteps(t *testing.T) {
	var r view.Run
	at := func(d time.Duration, p state.Payload) {
		r.Add(state.NewEvent(state.Origin{Run: "r", Iteration: 1}, sample.Noon.Add(d), p))
	}
	at(0, state.RunStart{})
	at(0, state.IterationStart{})
	const hours = 30
	for i := range hours * 60 {
		at(time.Duration(i)*time.Minute, state.Usage{InputTokens: int64(i+1) * 100})
	}
	if n := len(r.Pace.Steps); n > 512 || n < 200 {
		t.Errorf("%d steps of %v", n, r.Pace.Step)
	}
	for _, width := range []int{7, 40, 512, 3000} {
		columns := r.Pace.Spread(width, hours*time.Hour)
		sum := 0.0
		for _, n := range columns {
			sum += n * hours * 60 / float64(width)
		}
		if len(columns) != width || math.Abs(sum-hours*6000) > 1 {
			t.Errorf("%d columns have %.1f tokens", len(columns), sum)
		}
	}
	if got := r.Pace.Spread(10, hours*time.Hour)[5]; math.Abs(got-100) > 5 {
		t.Errorf("%.1f tokens a minute", got)
	}
}
