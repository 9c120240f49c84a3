package settings

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// diffLines returns the lines that only one side has, however often the other
// side has them, regardless of order and indentation.
func diffLines(was, is []string) (lost, added []string) {
	have := map[string]int{}
	for _, line := range is {
		have[strings.TrimSpace(line)]++
	}
	for _, line := range was {
		if key := strings.TrimSpace(line); have[key] > 0 {
			have[key]--
		} else {
			lost = append(lost, line)
		}
	}
	for _, line := range is {
		if key := strings.TrimSpace(line); have[key] > 0 {
			have[key]--
			added = append(added, line)
		}
	}
	return lost, added
}

// closest is the lost line with the most words in common; empty for none.
func closest(line string, lost []string) string {
	best, most := "", 0
	line = unquoted(line)
	for _, l := range lost {
		n := 0
		for _, w := range strings.Fields(l) {
			if strings.Contains(line, unquoted(w)) {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// words are the words of lines without the signs of lists and maps, which may
// be written on one line or on several.
func words(lines []string) []string {
	var all []string
	for _, line := range lines {
		for _, w := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t,;[]{}\"'", c) }) {
			if w = strings.TrimSuffix(w, ":"); w != "-" && w != "" {
				all = append(all, w)
			}
		}
	}
	return all
}

// extends says whether now has all words of was, in the same order. Where the
// line names what is used, its version may differ.
func extends(was, now string) bool {
	uses := usePattern().MatchString(was)
	words := strings.Fields(strings.Trim(now, " \t,;"))
	for _, w := range strings.Fields(strings.Trim(was, " \t,;")) {
		if w == "-" || uses && versionless(w) == "" {
			continue // the item may have got another first key, the list another version
		}
		i := slices.IndexFunc(words, func(n string) bool {
			return unquoted(n) == unquoted(w) || uses && versionless(n) == versionless(w) || stricter(was, w, n)
		})
		if i < 0 {
			return false
		}
		words = words[i+1:]
	}
	return true
}

// stricter says whether a word of a line of settings became a stricter one.
func stricter(line, was, now string) bool {
	was, now = strings.Trim(was, `"',;[]{}%`), strings.Trim(now, `"',;[]{}%`)
	if i := strings.LastIndexByte(was, '=') + 1; i > 0 && strings.HasPrefix(now, was[:i]) {
		was, now = was[i:], now[i:] // --least=80
	}
	p := strictness()
	if p.level[was] > 0 && p.level[now] > p.level[was] {
		return true
	}
	lenient := p.lenient.MatchString(line)
	if was, now := strings.ToLower(was), strings.ToLower(now); was == "false" && now == "true" || was == "true" && now == "false" {
		return lenient == (now == "false")
	}
	x, err := strconv.ParseFloat(was, 64)
	y, err2 := strconv.ParseFloat(now, 64)
	lenient = lenient || p.limit.MatchString(line)
	return err == nil && err2 == nil && (lenient && y < x || p.least.MatchString(line) && !lenient && y > x)
}

var strictness = sync.OnceValue(func() (p struct {
	level          map[string]int
	lenient, least *regexp.Regexp // a higher value is easier to pass; is harder
	limit          *regexp.Regexp // a higher number is easier to pass
}) {
	p.level = map[string]int{"off": 1, "allow": 1, "warn": 2, "warning": 2, "error": 3, "deny": 3, "forbid": 4}
	p.lenient = regexp.MustCompile(`(?i)ignor|exclu|skip|allow|omit|disable|max|limit|complexity|passWith`)
	p.limit = regexp.MustCompile(`(?i)length|width|depth|nesting|size`)
	p.least = regexp.MustCompile(`(?i)fail.?under|threshold|cover|lines|branches|functions|statements|minimum`)
	return p
})

var usePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\buses:|\bruns-on:|\bimage:|version|\bcontainer:|\brev:|^\s*FROM\b|\b(?:node|python|go|rust|java|os):`)
})

func unquoted(s string) string {
	return strings.Trim(strings.NewReplacer(`"`, "", "'", "").Replace(s), `,;[]`)
}

func versionless(s string) string { return strings.Trim(s, `0123456789.vx^~<>="',;[]`) }
