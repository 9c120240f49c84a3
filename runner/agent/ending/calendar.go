package ending

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zones, for machines without them
)

// Parts of the expressions for dates and clock times.
const (
	monthRE = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`
	dateRE  = `(?:\b(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?\b,? ?)?` +
		`(?:\b(?P<month>` + monthRE + `)[a-z]*\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?:,? (?P<year>20\d\d)\b)?` +
		`|\b(?P<day2>\d{1,2})(?:st|nd|rd|th)?[ -](?:of )?(?P<month2>` + monthRE +
		`)[a-z]*\b\.?(?:(?:-|,? )(?P<year2>20\d\d)\b)?` +
		`|\b(?P<relative>today|tomorrow)\b)?`
	hourRE = `(?P<before>,? ?(?:\bat |\bresets? |\buntil )?)` +
		`(?:\b(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)? ?(?P<half>[ap])\.?m\b\.?` +
		`|\b(?P<hour24>\d{1,2}):(?P<minute24>\d\d)(?::\d\d)?\b|\b(?P<word>midnight|noon)\b)`
	signRE = `[+\-−]`
	zoneRE = `(?: ?\((?P<region>[a-z_]+/[a-z0-9_+/-]+)\)| (?-i:(?P<bare>(?:[A-Z][a-z]+|US)/[A-Z][A-Za-z0-9_+/-]+))` +
		`| ?\(?(?-i:(?P<abbr>UTC|GMT|[PMCE][SD]?T|AK[SD]T|HST|CES?T|WES?T|EES?T|BST|MSK|SGT|HKT|JST|KST|AE[SD]T|NZ[SD]T|` +
		`Pacific|Mountain|Central|Eastern)(?P<offset> ?` + signRE + `\d{1,2}(?::?\d\d)?)?\b)` +
		`| ?\(?(?P<numeric>` + signRE + `\d\d:?\d\d)\b| ?\((?P<hours>` + signRE + `\d{1,2})\)` +
		`| ?\((?P<zone>[a-z][a-z0-9_+/-]*)\)| (?-i:(?P<other>[A-Z]{2,5}))(?:[.,;·]|\s*$))?`
)

var (
	clockRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + dateRE + hourRE + zoneRE) })
	// dayRE matches a date without a clock time. Only the words in front show that a
	// limit ends on it.
	dayRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:(?:resets?|until|access|again)(?: on| at)?|` +
			`(?:renews?|available|back) on)(?: the| next)? ` + dateRE + zoneRE)
	})
	// lateRE matches a date behind its clock time.
	lateRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^,?(?: on)?(?: the| next)? ` + dateRE + zoneRE)
	})
	// numericRE matches a date in numbers, and the clock time behind it.
	numericRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|[^\w./-])(\d{1,4})([/.-])(\d{1,2})([/.-])(\d{1,4})\b(,? (?:at )?[\d:]+ ?[ap]\.?m\b)?`)
	})
	halfRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^ ?[ap]\.?m\b`) })
	afterRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^` + zoneRE) })
)

// zones has the zones of abbreviations and names in limit texts that follow the
// summer time; offsets has the others.
var zones = map[string]string{"UTC": "UTC", "GMT": "UTC", "PT": "America/Los_Angeles", "MT": "America/Denver",
	"CT": "America/Chicago", "ET": "America/New_York", "Pacific": "America/Los_Angeles",
	"Mountain": "America/Denver", "Central": "America/Chicago", "Eastern": "America/New_York"}

// offsets are in hours east of UTC.
var offsets = map[string]int{"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4,
	"AKST": -9, "AKDT": -8, "HST": -10, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2,
	"EEST": 3, "MSK": 3, "SGT": 8, "HKT": 8, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13}

// parts are the named groups of a match.
func parts(re *regexp.Regexp, m []string) map[string]string {
	all := map[string]string{}
	for i, name := range re.SubexpNames() {
		all[name] = m[i]
	}
	return all
}

// calendarTime reads the first clock time, with or without a date in front, or else
// the first date on which a limit ends, which means its first moment. It returns the name of a
// zone that nobody knows.
func calendarTime(text string, now time.Time) (at time.Time, unknown string, ok bool) {
	for _, re := range []*regexp.Regexp{clockRE(), dayRE()} {
		for _, at := range re.FindAllStringSubmatchIndex(text, -1) {
			m := groups(text, at)
			part := parts(re, m)
			if !dated(part) && re == clockRE() {
				addDate(part, text[at[1]:])
			}
			dated := dated(part)
			if re == dayRE() && !dated || part["hour24"] != "" && !dated && strings.Trim(part["before"], ", ") == "" {
				continue // only looks like a time
			}
			hour, minute, ok := clock(part)
			if !ok {
				return time.Time{}, "", false
			}
			span := part["hour24"] + ":" + part["minute24"] + part["numeric"]
			if strings.HasPrefix(part["numeric"], "-") && strings.HasSuffix(m[0], span) {
				part["numeric"] = "" // 10:00-12:00 is from one time to another
			}
			zone, unknown := location(part, now.Location())
			t, ok := dateAt(part, now.In(zone), time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute)
			return t, unknown, ok
		}
	}
	return time.Time{}, "", false
}

// dated reports whether the parts name a day.
func dated(part map[string]string) bool {
	return part["weekday"]+part["month"]+part["month2"]+part["relative"] != ""
}

// addDate adds the date, and the zone, that follow a clock time: "9 AM on December 1".
func addDate(part map[string]string, rest string) {
	re := lateRE()
	m := re.FindStringSubmatch(rest)
	if m == nil {
		return
	}
	if late := parts(re, m); dated(late) {
		for name, text := range late {
			part[name] = cmp.Or(part[name], text)
		}
	}
}

// namedDates replaces numeric dates with dates that name the month. It returns false if a date cannot be read or
// is ambiguous: some countries put the day first, others the month.
func namedDates(text string) (string, bool) {
	clear := true
	text = numericRE().ReplaceAllStringFunc(text, func(date string) string {
		m := numericRE().FindStringSubmatch(date)
		year, month, day := m[2], atoi(m[4]), atoi(m[6])
		if len(m[6]) == 4 {
			year, month, day = m[6], atoi(m[2]), atoi(m[4])
			if month > 12 || m[3] == "." {
				month, day = day, month
			} else if day <= 12 && day != month && m[7] == "" { // only Americans write 9 AM behind it
				clear = false
			}
		}
		switch {
		case m[3] != m[5] || len(year) != 4 || year[:2] != "20": // no date
			return date
		case month < 1 || month > 12:
			clear = false
			return date
		}
		return m[1] + time.Month(month).String() + " " + strconv.Itoa(day) + ", " + year + m[7]
	})
	return text, clear
}

// clock reads the hour and minute.
func clock(part map[string]string) (hour, minute int, ok bool) {
	switch {
	case part["half"] != "":
		hour, minute = atoi(part["hour"]), atoi(part["minute"])
		ok = hour >= 1 && hour <= 12
		hour %= 12
		if strings.EqualFold(part["half"], "p") {
			hour += 12
		}
		return hour, minute, ok && minute < 60
	case strings.EqualFold(part["word"], "noon"):
		return 12, 0, true
	}
	hour, minute = atoi(part["hour24"]), atoi(part["minute24"]) // 0 for midnight and for a date alone
	return hour, minute, hour < 24 && minute < 60
}

// location reads the zone. One that nobody knows is read as the local one, and returned.
func location(part map[string]string, local *time.Location) (zone *time.Location, unknown string) {
	if off := cmp.Or(strings.TrimSpace(part["offset"]), part["numeric"], part["hours"]); off != "" {
		digits := strings.TrimLeft(strings.ReplaceAll(off, ":", ""), "+-−")
		seconds := atoi(digits) * 3600
		if len(digits) > 2 {
			seconds = atoi(digits[:len(digits)-2])*3600 + atoi(digits[len(digits)-2:])*60
		}
		if off[0] != '+' {
			seconds = -seconds
		}
		return time.FixedZone("", seconds), ""
	}
	if hours, known := offsets[part["abbr"]]; known {
		return time.FixedZone(part["abbr"], hours*3600), ""
	}
	name := cmp.Or(zones[part["abbr"]], part["region"], part["bare"], part["zone"], part["other"])
	if hours, known := offsets[strings.ToUpper(name)]; known {
		return time.FixedZone(name, hours*3600), ""
	}
	if loc, err := time.LoadLocation(name); err == nil && name != "" {
		return loc, ""
	}
	return local, name
}

// dateAt returns the time of the day that part names, seen from here. Without a
// date it is the next occurrence.
func dateAt(part map[string]string, here time.Time, ofDay time.Duration) (time.Time, bool) {
	on := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, int(ofDay.Hours()), int(ofDay.Minutes())%60, 0, 0, here.Location())
	}
	year, month, day := here.Date()
	today := on(year, month, day)
	switch name := strings.ToLower(part["month"] + part["month2"]); {
	case name != "":
		month = time.Month((strings.Index(monthRE, name) + 1) / 4) // monthRE starts with "(?:jan|"
		day = atoi(part["day"] + part["day2"])
		t := on(cmp.Or(atoi(part["year"]+part["year2"]), year), month, day)
		// Without a year, a date more than a month ago means next year.
		if undated := part["year"]+part["year2"] == ""; undated && t.Before(here.AddDate(0, -1, 0)) {
			t = on(year+1, month, day)
		} else if undated && t.After(here.AddDate(0, 11, 0)) { // just past, over the new year
			t = on(year-1, month, day)
		}
		if t.Month() != month || t.Day() != day { // such as February 30
			return time.Time{}, false
		}
		return t, true
	case strings.EqualFold(part["relative"], "today"):
		return today, true
	case part["relative"] != "":
		return on(year, month, day+1), true
	case part["weekday"] != "":
		weekday := strings.Index("sunmontuewedthufrisat", strings.ToLower(part["weekday"]))
		if weekday < 0 { // (?i) also matches a long s
			return time.Time{}, false
		}
		ahead := (weekday/3 - int(here.Weekday()) + 7) % 7
		if t := on(year, month, day+ahead); !t.Before(here) {
			return t, true
		}
		return on(year, month, day+ahead+7), true
	case here.Truncate(time.Minute).Equal(today): // the current minute: its end
		return today.Add(time.Minute), true
	case today.Before(here):
		return on(year, month, day+1), true
	}
	return today, true
}
