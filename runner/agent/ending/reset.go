package ending

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the account's zone may be missing on this machine
)

var (
	epochRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:\||\breset\w*"?(?: at)?:? ?|\buntil )(1\d{9}|[23]\d{9}|1\d{12})\b`)
	})
	stampRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(20\d\d-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z|[+-]\d\d:?\d\d)| \(?(?:UTC|GMT)\b)?`)
	})
	spanRE = sync.OnceValue(func() *regexp.Regexp {
		const part = `\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|m|seconds?|secs?|sec|s|milliseconds?|ms)\b`
		return regexp.MustCompile(`(?i)\b(?:in|after|for)[: ]+(?:about )?(` + part + `(?:(?:,| and)?\s*` + part + `)*)`)
	})
	partRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)
	})
	clockRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,?(?: (20\d\d))?,? (?:at )?)?` +
			`(?:\b(\d{1,2})(?::(\d\d))?(?::\d\d)? ?([ap])\.?m\b\.?|\b(?:at|resets?|until) (\d{1,2}):(\d\d)\b)(?: ?\(([A-Za-z][A-Za-z0-9_+/-]*)\)| (UTC|GMT)\b)?`)
	})
)

// ResetTime returns the time in a limit text: epoch seconds, a timestamp, a span
// ("in 2h 15m") or a clock time, with or without date and zone. A clock time means
// its next occurrence. The default zone is that of now.
func ResetTime(text string, now time.Time) (time.Time, bool) {
	if m := epochRE().FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		if n > 1e11 {
			return time.UnixMilli(n), true
		}
		return time.Unix(n, 0), true
	}
	if m := stampRE().FindStringSubmatch(text); m != nil {
		if t, ok := stamp(m, now); ok {
			return t, true
		}
	}
	if m := spanRE().FindStringSubmatch(text); m != nil {
		if d := span(m[1]); d > 0 {
			return now.Add(d), true
		}
	}
	if m := clockRE().FindStringSubmatch(text); m != nil {
		return clock(m, now)
	}
	return time.Time{}, false
}

// stamp reads the groups of stampRE: date, hour and minute, second, offset. UTC or
// GMT may replace the offset; the default zone is that of now.
func stamp(m []string, now time.Time) (time.Time, bool) {
	zone := now.Location()
	if strings.HasSuffix(m[0], "UTC") || strings.HasSuffix(m[0], "GMT") {
		zone = time.UTC
	}
	text := m[1] + "T" + m[2] + m[3]
	if m[3] == "" {
		text += ":00"
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.ParseInLocation(layout, text+m[4], zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// span reads "2h 15m"; 0 for more than a year.
func span(text string) time.Duration {
	var sum float64
	for _, p := range partRE().FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			return 0
		}
		unit := strings.ToLower(p[2])
		switch {
		case unit == "ms" || strings.HasPrefix(unit, "milli"):
			n /= 1000
		case unit[0] == 'd':
			n *= 86400
		case unit[0] == 'h':
			n *= 3600
		case unit[0] == 'm':
			n *= 60
		}
		sum += n
	}
	if sum > 366*86400 {
		return 0
	}
	return time.Duration(sum * float64(time.Second))
}

// clock reads the groups of clockRE: month, day, year, hour, minute, a or p,
// hour and minute of the 24-hour form, zone, zone.
func clock(m []string, now time.Time) (time.Time, bool) {
	zone := now.Location()
	for _, name := range m[9:] {
		if loc, err := time.LoadLocation(name); name != "" && err == nil {
			zone = loc
		}
	}
	hour, minute := atoi(m[4]), atoi(m[5])
	if m[6] != "" {
		if hour < 1 || hour > 12 {
			return time.Time{}, false
		}
		hour %= 12
		if strings.EqualFold(m[6], "p") {
			hour += 12
		}
	} else {
		hour, minute = atoi(m[7]), atoi(m[8])
	}
	if hour > 23 || minute > 59 {
		return time.Time{}, false
	}
	here := now.In(zone)
	if m[1] == "" {
		t := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, zone)
		switch {
		case here.Truncate(time.Minute).Equal(t): // the current minute: its end
			t = t.Add(time.Minute)
		case t.Before(here):
			t = time.Date(here.Year(), here.Month(), here.Day()+1, hour, minute, 0, 0, zone)
		}
		return t, true
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
	if err != nil {
		return time.Time{}, false
	}
	year := here.Year()
	if m[3] != "" {
		year = atoi(m[3])
	}
	t := time.Date(year, month.Month(), atoi(m[2]), hour, minute, 0, 0, zone)
	// Without a year, a date more than a month ago means next year.
	if m[3] == "" && t.Before(here.AddDate(0, -1, 0)) {
		t = time.Date(year+1, month.Month(), atoi(m[2]), hour, minute, 0, 0, zone)
	}
	return t, true
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
