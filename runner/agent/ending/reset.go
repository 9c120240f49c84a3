package ending

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	epochRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:\||\breset\w*"?(?: at)?:? ?|\buntil )(1\d{9}|[23]\d{9}|1\d{12})\b`)
	})
	// logRE matches the time at the start of a log line.
	logRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\W*20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|` +
			`[+-]\d\d:?\d\d)?\b`)
	})
	// stampRE matches a date with a time of day: the names of models end with a date.
	stampRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(20\d\d-\d\d-\d\d)(?:T|` +
			`,? | at )(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z|[+-]\d\d:?\d\d)\b)?`)
	})
	spanRE = sync.OnceValue(func() *regexp.Regexp {
		const part = `(?:\d+(?:\.\d+)?\s*|` + wordsRE + ` )(?:weeks?|w|days?|d|hours?|hrs?|hr|h|minutes?|mins?|` +
			`min|m|seconds?|secs?|sec|s|milliseconds?|ms)`
		return regexp.MustCompile(`(?i)\b(?:in|after|for|wait|(?:quota)?re(?:try|set)delay|` +
			`reset[\w-]*["']?\s*[:=])["': ]+(?:about |approximately |another |` +
			`~ ?)?(\d+:\d\d:\d\d|` + part + `(?:,?(?: and)?\s*` + part + `)*)\b( per\b)?`)
	})
	partRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(\d+(?:\.\d+)?\s*|\b` + wordsRE + `\s+)([a-z]+)`)
	})
	// secondsRE matches a header or a member of a JSON body that is a number of seconds.
	secondsRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:retry[-_]after([-_]ms)?|resets?_in_seconds|` +
			`retry_after_seconds)["']?\s*[:=]\s*["']?(\d{1,8}(?:\.\d+)?)(?:[^\d.\w]|\.?$)`)
	})
)

var (
	// resetRE matches the words that a time of a reset stands with.
	resetRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bresets?\b|\bresett|-reset|_reset|\brenew|\brefresh|replenish|regain|unlock|come back|` +
			`\bback (?:at|on)\b|available (?:again|from|at|on)\b|next (?:window|period|cycle)|try again|retry[-_ ]after|重置|恢复|刷新|重试|再试`)
	})
	// hoursRE matches the length of a window in hours.
	hoursRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:limit|quota)s? (?:has been |is )?(?:reached|exceeded|exhausted) for (?:the |your )?(?:last |past )?(\d+)[ -]?hours?\b|` +
			`\b(\d+)[ -]?h(?:our|r)?s? (?:\w+ )?(?:limit|window|quota)|(\d+) ?小时.{0,12}(?:上限|限额|额度|配额|限制|窗口)`)
	})
	// chineseRE matches the texts of Chinese providers. 1308 and 1310 are codes of Zhipu (GLM) for a limit, and so is
	// that sentence in English.
	chineseRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\p{Han}|"code":\s*"?13(?:08|10)\b|Your limit will reset at 20\d\d-\d\d-\d\d \d`)
	})
	chineseSpanRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:\d+ ?(?:天|个?小时|分钟?|秒钟?) ?)+)(?:之?后|以后)`)
	})
	chineseDateRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:(20\d\d) ?年 ?)?(\d{1,2}) ?月 ?(\d{1,2}) ?日 ?`)
	})
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
