package view

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"ralph/logs/termtext"
)

// Span formats a duration: "47s", "4m 12s", "2h 05m", "3d 4h". A negative one, after
// the clock was set back, is "0s".
func Span(d time.Duration) string {
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

// Seconds converts seconds from a state file, which may contain any number.
func Seconds(s float64) time.Duration {
	if math.IsNaN(s) {
		return 0
	}
	return time.Duration(min(max(s, 0), 1e9) * float64(time.Second))
}

// Took formats a duration in seconds: "1.2s"; from ten seconds on like Span.
func Took(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.1fs", max(s, 0))
	}
	return Span(Seconds(s))
}

// Clock formats a time: "15:04" today, "Mon 15:04" within a week, else "2 Jan 15:04".
func Clock(t, now time.Time) string {
	t, now = t.In(now.Location()), now.Round(0)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	if d := t.Sub(now); d < 6*24*time.Hour && d > -6*24*time.Hour {
		return t.Format("Mon 15:04")
	}
	return t.Format("2 Jan 15:04")
}

// Dollars formats a cost: "$0.12", "under $0.01"; empty for zero.
func Dollars(usd float64) string {
	switch {
	case !(usd > 0):
		return ""
	case usd < 0.005:
		return "under $0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Join joins the parts that are not empty.
func Join(sep string, parts ...string) string {
	var keep []string
	for _, p := range parts {
		if p != "" {
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, sep)
}

// Prefix adds a prefix to text, unless text is empty.
func Prefix(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// clip cuts text to most runes and says how many are missing.
func clip(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return fmt.Sprintf("%s… %s more", s[:i], termtext.Count(utf8.RuneCountInString(s[i:]), "character"))
		}
	}
	return s
}
