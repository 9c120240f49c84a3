package monitor

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// span writes a duration for people: "47s", "4m 12s", "2h 05m", "3d 4h". A
// negative one, which only a clock that was set back gives, reads as "0s".
func span(d time.Duration) string {
	d = max(d, 0)
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd %dh", s/86400, s/3600%24)
}

// rough writes a duration without its seconds above a minute: "30m", "2h 12m".
func rough(d time.Duration) string {
	if d >= time.Minute && d < time.Hour {
		return fmt.Sprintf("%dm", int(d/time.Minute))
	}
	return span(d)
}

// countdown writes what is left to the second.
func countdown(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// clock writes an instant as short as it stays clear beside now.
func clock(t, now time.Time) string {
	t, now = t.In(now.Location()), now.Round(0)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	if d := t.Sub(now); d < 6*24*time.Hour && d > -6*24*time.Hour {
		return t.Format("Mon 15:04")
	}
	return t.Format("2 Jan 15:04")
}

// count writes a number of tokens: "950", "12.4k", "3.1M".
func count(n int64) string {
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

// plural writes "1 file", "3 files".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// join puts the parts that are not empty behind each other.
func join(sep string, parts ...string) string {
	var keep []string
	for _, p := range parts {
		if p != "" {
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, sep)
}
