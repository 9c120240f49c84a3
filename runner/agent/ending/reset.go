package ending

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zones, for machines without them

	"ralph/logs/lazy"
)

var (
	epochRE = lazy.Regexp(`(?i)(?:\||\breset\w*"?(?: at)?:? ?|\buntil )(1\d{9}|[23]\d{9}|1\d{12})\b`)
	// logRE matches the time at the start of a log line.
	logRE = lazy.Regexp(`(?m)^\W*20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|` +
		`[+-]\d\d:?\d\d)?\b`)
	// stampRE matches a date with a time of day: the names of models end with a date.
	stampRE = lazy.Regexp(`(?i)\b(20\d\d-\d\d-\d\d)(?:T|` +
		`,? | at )(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z|[+-]\d\d:?\d\d)\b)?`)
	spanRE = sync.OnceValue(func() *regexp.Regexp {
		const part = `(?:\d+(?:\.\d+)?\s*|` + wordsRE + ` )(?:weeks?|w|days?|d|hours?|hrs?|hr|h|minutes?|mins?|` +
			`min|m|seconds?|secs?|sec|s|milliseconds?|ms)`
		return regexp.MustCompile(`(?i)\b(?:in|after|for|wait|(?:quota)?re(?:try|set)delay|` +
			`reset[\w-]*["']?\s*[:=])["': ]+(?:about |approximately |another |` +
			`~ ?)?(\d+:\d\d:\d\d|` + part + `(?:,?(?: and)?\s*` + part + `)*)\b( per\b)?`)
	})
	partRE = lazy.Regexp(`(?i)(\d+(?:\.\d+)?\s*|\b` + wordsRE + `\s+)([a-z]+)`)
	// secondsRE matches a header or a member of a JSON body that is a number of seconds.
	secondsRE = lazy.Regexp(`(?i)\b(?:retry[-_]after([-_]ms)?|resets?_in_seconds|` +
		`retry_after_seconds)["']?\s*[:=]\s*["']?(\d{1,8}(?:\.\d+)?)(?:[^\d.\w]|\.?$)`)
)

var (
	// resetRE matches the words that a time of a reset stands with.
	resetRE = lazy.Regexp(`(?i)\bresets?\b|\bresett|-reset|_reset|\brenew|\brefresh|refill|replenish|regain|unlock|comes? back|` +
		`\b(?:empty|exhausted|used up|exceeded|limited|blocked|locked|paused|suspended|unavailable) until\b|` +
		`\bback (?:at|on)\b|available (?:again|from|at|on)\b|next (?:window|period|cycle)|try again|retry[-_ ]after|重置|恢复|刷新|重试|再试`)
	// hoursRE matches the length of a window in hours.
	hoursRE = lazy.Regexp(`(?i)(?:limit|quota)s? (?:has been |is )?(?:reached|exceeded|exhausted) for (?:the |your )?(?:last |past )?(\d+)[ -]?hours?\b|` +
		`\b(\d+)[ -]?h(?:our|r)?s? (?:\w+ )?(?:limit|window|quota)|(\d+) ?小时.{0,12}(?:上限|限额|额度|配额|限制|窗口)`)
	// chineseRE matches the texts of Chinese providers. 1308 and 1310 are codes of Zhipu (GLM) for a limit, and so is
	// that sentence in English.
	chineseRE     = lazy.Regexp(`\p{Han}|"code":\s*"?13(?:08|10)\b|Your limit will reset at 20\d\d-\d\d-\d\d \d`)
	chineseSpanRE = lazy.Regexp(`((?:\d+ ?(?:天|个?小时|分钟?|秒钟?) ?)+)(?:之?后|以后)`)
	chineseDateRE = lazy.Regexp(`(?:(20\d\d) ?年 ?)?(\d{1,2}) ?月 ?(\d{1,2}) ?日 ?`)
)

// inEnglish rewrites the spans and dates of a Chinese text.
func inEnglish(text string) string {
	text = chineseSpanRE().ReplaceAllStringFunc(text, func(span string) string {
		return " in " + strings.NewReplacer("个", "", "天", " days ", "小时", " hours ", "分钟", " minutes ", "分", " minutes ",
			"秒钟", " seconds ", "秒", " seconds ", "之后", "", "以后", "", "后", "").Replace(span)
	})
	text = chineseDateRE().ReplaceAllStringFunc(text, func(date string) string {
		m := chineseDateRE().FindStringSubmatch(date)
		return strings.TrimSuffix(time.Month(atoi(m[2])).String()+" "+m[3]+", "+m[1], ", ") + " "
	})
	return strings.NewReplacer("今天", " today ", "今日", " today ", "明天", " tomorrow ", "明日", " tomorrow ", "：", ":").Replace(text)
}

// wordsRE matches the numbers in words of a span; words has them in order, from one.
const wordsRE = `(?:half an?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)`

var words = strings.Split("one two three four five six seven eight nine ten eleven twelve", " ")

// Until returns the time in the newest of the texts that has one, and its zone if nobody knows that. In the texts of a
// limit, how long the CLI waits before it tries again is not meant, and no time is later than the end of the window
// that the text names: such a time is in another zone, that of Chinese providers or one that nobody knows.
func Until(texts []string, limit bool, now time.Time) (at time.Time, unknownZone string) {
	for _, text := range slices.Backward(texts) {
		if limit {
			text = withoutDelay(text)
		}
		at, unknown, ok := resetTime(text, now)
		if ok && limit && late(at, text, now) {
			at, _, _ = resetTime(text, now.In(beijing))
		}
		if ok && limit && late(at, text, now) {
			at = now.Add(Window(text))
		}
		if ok {
			return at, unknown
		}
	}
	return time.Time{}, ""
}

func late(at time.Time, text string, now time.Time) bool {
	window := Window(text)
	return window > 0 && at.After(now.Add(window))
}

// beijing is the zone of times that Chinese providers write without one.
var beijing = time.FixedZone("", 8*3600)

// IsReset returns the time at which a text of an error says that something resets; zero: it does not.
func IsReset(text string, now time.Time) time.Time {
	if !resetRE().MatchString(text) {
		return time.Time{}
	}
	at, _ := Until([]string{text}, false, now)
	return at
}

// Window is the length of the usage window that a text names; 0: it names none.
func Window(text string) time.Duration {
	const day = 24 * time.Hour
	if m := hoursRE().FindStringSubmatch(text); m != nil {
		return time.Duration(atoi(cmp.Or(m[1], m[2], m[3]))) * time.Hour
	}
	return map[string]time.Duration{"five_hour": 5 * time.Hour, "day": day, "seven_day": 7 * day, "month": 31 * day}[LimitName(text)]
}

// resetTime returns the time in a limit text: epoch seconds, a timestamp, a span
// ("in 2h15m"), or a clock time, a date, or both. A clock time alone means its next
// occurrence, a date alone its start. The default zone is that of now, also for the zone
// that is unknown. It returns false for a time that it cannot read, rather than guess. It
// reads the first 4 KiB.
func resetTime(text string, now time.Time) (at time.Time, unknown string, ok bool) {
	text = logRE().ReplaceAllString(text[:min(len(text), maxRead)], "")
	if chineseRE().MatchString(text) {
		text, now = inEnglish(text), now.In(beijing)
	}
	if m := epochRE().FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		if n > 1e11 {
			return time.UnixMilli(n), "", true
		}
		return time.Unix(n, 0), "", true
	}
	if at := stampRE().FindStringSubmatchIndex(text); at != nil && !halfRE().MatchString(text[at[1]:]) {
		re := afterRE()
		zone, unknown := location(parts(re, re.FindStringSubmatch(text[at[1]:])), now.Location())
		t, ok := stamp(groups(text, at), zone)
		return t, unknown, ok
	}
	for _, m := range spanRE().FindAllStringSubmatch(text, -1) {
		if d := span(m[1]); d > 0 && m[2] == "" { // "for 1 day per user" is not a time
			return now.Add(d), "", true
		}
	}
	if m := secondsRE().FindStringSubmatch(text); m != nil {
		if d := span(m[2] + cmp.Or(strings.TrimLeft(m[1], "-_"), "s")); d > 0 {
			return now.Add(d), "", true
		}
	}
	text, ok = namedDates(text)
	if !ok {
		return time.Time{}, "", false
	}
	return calendarTime(text, now)
}

// groups returns the texts of a match.
func groups(text string, at []int) []string {
	out := make([]string, len(at)/2)
	for i := range out {
		if at[2*i] >= 0 {
			out[i] = text[at[2*i]:at[2*i+1]]
		}
	}
	return out
}

// stamp reads the groups of stampRE: date, hour and minute, second, offset. Without an
// offset, the zone counts.
func stamp(m []string, zone *time.Location) (time.Time, bool) {
	text := m[1] + "T" + m[2] + cmp.Or(m[3], ":00") + strings.ToUpper(m[4])
	for _, layout := range [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// span reads "2h 15m" and "2:15:00"; 0 for more than a year.
func span(text string) time.Duration {
	if clock := strings.Split(text, ":"); len(clock) == 3 {
		text = clock[0] + "h" + clock[1] + "m" + clock[2] + "s"
	}
	var sum float64
	for _, p := range partRE().FindAllStringSubmatch(text, -1) {
		word := strings.ToLower(strings.TrimSpace(p[1]))
		n, err := strconv.ParseFloat(word, 64)
		if err != nil && strings.HasPrefix(word, "half") {
			n = 0.5
		} else if err != nil {
			n = float64(max(slices.Index(words, word), 0) + 1) // 1 for "an hour"
		}
		unit := strings.ToLower(p[2])
		switch {
		case unit == "ms" || strings.HasPrefix(unit, "milli"):
			n /= 1000
		case unit[0] == 'w':
			n *= 7 * 86400
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

// atoi returns the number in digits; 0 for none.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

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
	clockRE = lazy.Regexp(`(?i)` + dateRE + hourRE + zoneRE)
	// dayRE matches a date without a clock time. Only the words in front show that a
	// limit ends on it.
	dayRE = lazy.Regexp(`(?i)\b(?:(?:resets?|until|access|again)(?: on| at)?|` +
		`(?:renews?|available|back) on)(?: the| next)? ` + dateRE + zoneRE)
	// lateRE matches a date behind its clock time.
	lateRE = lazy.Regexp(`(?i)^,?(?: on)?(?: the| next)? ` + dateRE + zoneRE)
	// numericRE matches a date in numbers, and the clock time behind it.
	numericRE = lazy.Regexp(`(?i)(^|[^\w./-])(\d{1,4})([/.-])(\d{1,2})([/.-])(\d{1,4})\b(,? (?:at )?[\d:]+ ?[ap]\.?m\b)?`)
	halfRE    = lazy.Regexp(`(?i)^ ?[ap]\.?m\b`)
	afterRE   = lazy.Regexp(`(?i)^` + zoneRE)
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
