package report

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/sample"
)

func TestPredict_fewTasks_isTooEarly(t *testing.T) {
	f := predict(make([]Sample, 4), 3)
	if !f.TooEarly || !strings.HasPrefix(f.Text(sample.Noon), "too early") {
		t.Errorf("%+v", f)
	}
	minute := Sample{Seconds: 60, USD: 1, Calls: 2}
	same := []Sample{minute, minute, minute, minute, minute}
	got := predict(same, 2)
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
	if diff := cmp.Diff(Forecast{Open: 2, P50: Sample{Seconds: 120, USD: 2, Calls: 4}, P90: Sample{Seconds: 120, USD: 2, Calls: 4}}, got, near); diff != "" {
		t.Error(diff)
	}
	if want := "2 tasks open: done about 14:32 (in 2m 00s), $2.00, 4 calls · in 9 of 10 cases by 14:32 (in 2m 00s), $2.00, 4 calls"; got.Text(sample.Noon) != want {
		t.Error(got.Text(sample.Noon))
	}
	if want := "done about 14:32 $2.00 · 9 in 10: 14:32 $2.00"; got.Brief(sample.Noon) != want || f.Brief(sample.Noon) != "too early for a forecast" {
		t.Error(got.Brief(sample.Noon), f.Brief(sample.Noon))
	}
	if f := predict(same, 0); f.Brief(sample.Noon) != "" || f.Text(sample.Noon) != "" {
		t.Errorf("%+v", f)
	}
}
