package settings

import (
	"regexp"
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

// maxPairs bounds how many lines are compared; a larger change is not judged.
const maxPairs = 1 << 22

// setting is one line, taken apart once. Its words come in three forms.
type setting struct {
	text                   string
	words, plain, bare     []string // as they are, without quotes, without versions
	uses                   bool     // it names what is used, whose version may differ
	lenient, limits, least bool     // what makes it easier to pass; see strictness
}

func readSettings(lines []string) []setting {
	all := make([]setting, len(lines))
	for i, text := range lines {
		p := strictness()
		s := setting{text: text, words: strings.Fields(strings.Trim(text, " \t,;")), uses: usePattern().MatchString(text),
			lenient: p.lenient.MatchString(text), limits: p.limit.MatchString(text), least: p.least.MatchString(text)}
		for _, w := range s.words {
			s.plain, s.bare = append(s.plain, unquoted(w)), append(s.bare, versionless(w))
		}
		all[i] = s
	}
	return all
}

// closest is the lost line with the most words in common; empty for none.
func closest(line string, lost []setting) string {
	best, most := "", 0
	line = unquoted(line)
	for _, l := range lost {
		n := 0
		for _, w := range l.plain {
			if strings.Contains(line, w) {
				n++
			}
		}
		if n > most {
			best, most = l.text, n
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
func (was setting) extends(now setting) bool {
	at := 0
	for i, w := range was.words {
		if w == "-" || was.uses && was.bare[i] == "" {
			continue // the item may have got another first key, the list another version
		}
		for at < len(now.words) && now.plain[at] != was.plain[i] && (!was.uses || now.bare[at] != was.bare[i]) && !was.stricter(w, now.words[at]) {
			at++
		}
		if at == len(now.words) {
			return false
		}
		at++
	}
	return true
}

// stricter says whether a word of a line of settings became a stricter one.
func (s setting) stricter(was, now string) bool {
	was, now = strings.Trim(was, `"',;[]{}%`), strings.Trim(now, `"',;[]{}%`)
	if i := strings.LastIndexByte(was, '=') + 1; i > 0 && strings.HasPrefix(now, was[:i]) {
		was, now = was[i:], now[i:] // --least=80
	}
	level := strictness().level
	if level[was] > 0 && level[now] > level[was] {
		return true
	}
	if strings.EqualFold(was, "false") && strings.EqualFold(now, "true") || strings.EqualFold(was, "true") && strings.EqualFold(now, "false") {
		return s.lenient == strings.EqualFold(now, "false")
	}
	if was == "" || strings.IndexByte("+-.0123456789", was[0]) < 0 {
		return false
	}
	x, err := strconv.ParseFloat(was, 64)
	y, err2 := strconv.ParseFloat(now, 64)
	lenient := s.lenient || s.limits
	return err == nil && err2 == nil && (lenient && y < x || s.least && !lenient && y > x)
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
	return strings.Trim(strings.ReplaceAll(strings.ReplaceAll(s, `"`, ""), "'", ""), `,;[]`)
}

func versionless(s string) string { return strings.Trim(s, `0123456789.vx^~<>="',;[]`) }
