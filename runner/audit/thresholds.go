package audit

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// settingPatterns tell which settings are weaker than others.
var settingPatterns = sync.OnceValue(func() (p struct {
	pair, number, least, most, strict, lenient, list, lists, member *regexp.Regexp

	level map[string]int
}) {
	p.pair = regexp.MustCompile(`^["']?([\w@/.-]+)["']?\s*[:=]\s*(.+)$`)
	p.number = regexp.MustCompile(`\d+(?:\.\d+)?`)
	p.least = regexp.MustCompile(`(?i)fail[-_.]?under|threshold|` +
		`\b(?:lines|branches|functions|statements)\b|^target:\s*\d+%|min\w*.?cover|` +
		`^(?:cov(?:erage)?_?)?min(?:imum)?(?:_?cov(?:erage)?)?\s*[:?]?=`)
	p.most = regexp.MustCompile(`(?i)^["']?max[-_]?(?:function|line|file|len|complexity|depth|param|statement|` +
		`nested|warning|arg|local|branch|return|class)\w*["']?\s*[:=]`)
	p.strict = regexp.MustCompile(`(?i)^strict|^no[A-Z]|^disallow_|^warn_|^check_|^fail_on|` +
		`^forceConsistent|^exactOptional|^useUnknown`)
	p.lenient = regexp.MustCompile(`(?i)^ignore_(?:errors|missing)|^skip_|^skipLibCheck|^passWithNoTests`)
	p.list = regexp.MustCompile(`(?i)^(?:lint\.)?(?:extend-)?(?:ignore|exclude|omit|disable)$`)
	p.lists = regexp.MustCompile(`\[[^\[\]{}#]*\]`)
	p.member = regexp.MustCompile(`([{,])\s*("[\w@/.-]+"\s*:)`)
	p.level = map[string]int{"off": 1, "allow": 1, "warn": 2, "warning": 2, "error": 3, "deny": 3, "forbid": 4}
	return p
})

// weakenedSetting finds a setting that is weaker than before. Only lines that set the same
// key, or differ only in their numbers, are compared: a change may have many lines.
func weakenedSetting(lost, added []string) (before, after string, ok bool) {
	p := settingPatterns()
	byKey, byShape := map[string][]string{}, map[string][]string{}
	for _, is := range added {
		if y := p.pair.FindStringSubmatch(is); y != nil {
			byKey[y[1]] = append(byKey[y[1]], is)
		}
		shape := p.number.ReplaceAllString(is, "0")
		byShape[shape] = append(byShape[shape], is)
	}
	for _, was := range lost {
		if least, most := p.least.MatchString(was), p.most.MatchString(was); least || most {
			for _, is := range byShape[p.number.ReplaceAllString(was, "0")] {
				if least && onlyLower(was, is) || most && onlyLower(is, was) {
					return was, is, true
				}
			}
		}
		if x := p.pair.FindStringSubmatch(was); x != nil {
			for _, is := range byKey[x[1]] {
				if weaker(was, is) {
					return was, is, true
				}
			}
		}
	}
	return "", "", false
}

// onlyLower reports whether at least one number of a line is lower, and none is higher. The lines differ only in their
// numbers.
func onlyLower(was, is string) bool {
	p := settingPatterns()
	now := p.number.FindAllString(is, -1)
	lower := false
	for i, text := range p.number.FindAllString(was, -1) {
		b, err := strconv.ParseFloat(text, 64)
		a, err2 := strconv.ParseFloat(now[i], 64)
		if err != nil || err2 != nil || a > b {
			return false
		}
		lower = lower || a < b
	}
	return lower
}

// weaker reports whether both lines set the same key, the second to a weaker level, the
// weaker boolean or a longer list of exceptions.
func weaker(was, is string) bool {
	p := settingPatterns()
	x, y := p.pair.FindStringSubmatch(was), p.pair.FindStringSubmatch(is)
	if x == nil || y == nil || x[1] != y[1] {
		return false
	}
	b, a := items(x[2]), items(y[2])
	switch {
	case len(b) == 0 || len(a) == 0:
		return false
	case p.list.MatchString(x[1]):
		return len(a) > len(b) && len(Without(b, a)) == 0
	case p.level[a[0]] > 0:
		return p.level[b[0]] > p.level[a[0]]
	}
	return p.strict.MatchString(x[1]) && b[0] == "true" && a[0] == "false" ||
		p.lenient.MatchString(x[1]) && b[0] == "false" && a[0] == "true"
}

// items returns the words of a value in lower case: ["warn", 2] gives warn and 2.
func items(value string) []string {
	return strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune(` "'[]{},`, r) })
}
