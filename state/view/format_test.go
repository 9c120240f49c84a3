package view_test

import (
	"math"
	"testing"
	"time"

	"ralph/state/view"
)

func TestFormat_numbersAndTimes_areShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 59999 * time.Millisecond: "59s", time.Minute: "1m 00s",
		3599 * time.Second: "59m 59s", time.Hour: "1h 00m", 25 * time.Hour: "1d 1h",
	} {
		if got := view.Span(d); got != want {
			t.Errorf("Span(%v) is %q, want %q", d, got, want)
		}
	}
	for s, want := range map[float64]string{-1: "0.0s", 1.25: "1.2s", 75: "1m 15s", math.Inf(1): "11574d 1h"} {
		if got := view.Took(s); got != want {
			t.Errorf("Took(%v) is %q, want %q", s, got, want)
		}
	}
	for usd, want := range map[float64]string{-1: "", 0: "", 0.001: "under $0.01", 0.1: "$0.10", 12: "$12.00"} {
		if got := view.Dollars(usd); got != want {
			t.Errorf("Dollars(%v) is %q, want %q", usd, got, want)
		}
	}
	for at, want := range map[time.Time]string{
		noon.Add(time.Hour): "15:30", noon.Add(20 * time.Hour): "Sat 10:30", noon.Add(300 * time.Hour): "3 Dec 02:30",
	} {
		if got := view.Clock(at, noon); got != want {
			t.Errorf("Clock is %q, want %q", got, want)
		}
	}
	if view.Seconds(math.NaN()) != 0 {
		t.Error("no number is a duration")
	}
}
