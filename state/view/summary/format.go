package summary

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ralph/state/view"
)

// rough formats a duration without seconds from one minute on: "30m", "2h 12m".
func rough(d time.Duration) string {
	if d >= time.Minute && d < time.Hour {
		return fmt.Sprintf("%dm", int(d/time.Minute))
	}
	return view.Span(d)
}

// Count formats a number of tokens: "950", "12.4k", "3.1M".
func Count(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_500:
		return short(float64(n)/1e3) + "k"
	case n < 999_500_000:
		return short(float64(n)/1e6) + "M"
	}
	return short(float64(n)/1e9) + "G"
}

func short(f float64) string {
	if f >= 99.95 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
