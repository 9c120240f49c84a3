package audit

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// conditions are patterns of what a skip may depend on.
var conditions = sync.OnceValue(func() (p struct{ opens, environment, platform *regexp.Regexp }) {
	p.opens = regexp.MustCompile(`^(?:\} ?)?(?:if|elif|else|unless|switch|case|default|when|for|while|` +
		`try|except|catch|rescue|with|match)\b`)
	p.environment = regexp.MustCompile(`(?i)getenv|environ|process\.env|\bENV\[|lookupenv`)
	p.platform = regexp.MustCompile(`(?i)GOOS|GOARCH|testing\.Short|platform|\bos\.name|version_info|versions?\b|` +
		`win32|windows|darwin|macos|linux|\bunix\b|\brace\b|\bcgo\b|amd64|arm64|target_os|miri|uname|ostype|` +
		`getoption|\bJRE\b`)
	return p
})

// near is the greatest distance, in lines, between a skip and the name of its test.
const near = 200

// skipped is a line that keeps tests from running.
type skipped struct{ file, what string }

// addedSkips finds existing tests that no longer run. A skip that depends on the platform
// or on what a machine has is honest; one that depends on an environment variable is
// not. Skips that have moved or have a new reason do not count.
func addedSkips(files []File) []Finding {
	added, lost := []skipped(nil), 0
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil {
			continue
		}
		was, is := l.skips(f, f.Before, f.After), l.skips(f, f.After, f.Before)
		added, lost = append(added, is...), lost+len(was)
	}
	var found []Finding
	for i, s := range added {
		again := slices.ContainsFunc(added[:i], func(o skipped) bool { return o == s })
		if i >= len(added)-lost || again {
			continue
		}
		found = append(found, Finding{Kind: KindSkipAdded, File: s.file, Text: s.what})
	}
	return found
}

// skips returns the lines that only this side of a file has and that skip tests of the
// other side.
func (l *language) skips(f File, side, other string) []skipped {
	var all []skipped
	if l.mute != nil {
		for range len(l.mute.FindAllString(side, -1)) - len(l.mute.FindAllString(other, -1)) {
			all = append(all, skipped{f.Path, "it now keeps other tests from running or failing"})
		}
	}
	if l.count(other) == 0 {
		return all
	}
	fresh := map[string]int{}
	for _, line := range Without(lines(side), lines(other)) {
		fresh[line]++
	}
	names := l.names(other)
	text := strings.Split(side, "\n")
	for i, raw := range text {
		line := strings.TrimSpace(raw)
		if fresh[line] == 0 || !l.skipsAt(text, i) {
			continue
		}
		fresh[line]--
		if l.whole.MatchString(line) {
			if !slices.ContainsFunc(lines(other), l.whole.MatchString) {
				all = append(all, skipped{f.Path, "the whole file may no longer run"})
			}
		} else if name := l.skippedName(text, i); names[name] {
			all = append(all, skipped{f.Path, fmt.Sprintf("%q is skipped now", name)})
		}
	}
	return all
}

// skippedName is the name of the test that line i skips: for a mark the next one, starting
// at the line itself, for a call the one above. It is empty if there is none.
func (l *language) skippedName(text []string, i int) string {
	if l.mark.MatchString(strings.TrimSpace(text[i])) {
		return l.named(slices.Values(text[i:min(i+near, len(text))]))
	}
	return l.named(func(yield func(string) bool) {
		for _, line := range slices.Backward(text[max(0, i-near):i]) {
			if !yield(line) {
				return
			}
		}
	})
}

// names returns all names in a text: tests, groups, helpers.
func (l *language) names(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range lines(text) {
		if name := l.nameOf(line); name != "" {
			all[name] = true
		}
	}
	return all
}

func (l *language) nameOf(line string) string {
	for _, group := range slices.Backward(l.name.FindStringSubmatch(line)) {
		if group != "" && group != line {
			return group
		}
	}
	return ""
}

// named returns the first name in the lines.
func (l *language) named(text iter.Seq[string]) string {
	for line := range text {
		if name := l.nameOf(strings.TrimSpace(line)); name != "" {
			return name
		}
	}
	return ""
}

// skipsAt reports whether line i skips tests on all machines.
func (l *language) skipsAt(text []string, i int) bool {
	line := strings.TrimSpace(text[i])
	switch {
	case l.mark.MatchString(line), l.whole.MatchString(line):
		condition := strings.Join(text[i:min(i+4, len(text))], "\n")
		if end := strings.Index(condition, ")\n"); end > 0 {
			condition = condition[:end]
		}
		if conditions().platform.MatchString(condition) {
			return false
		}
		needs := strings.Contains(strings.ToLower(line), "if(") || strings.Contains(line, "skipUnless")
		return !needs || conditions().environment.MatchString(condition) || strings.Contains(condition, "True")
	case l.call.MatchString(line):
		guard, deep := guardOf(text, i)
		return !deep || conditions().environment.MatchString(guard) && !conditions().platform.MatchString(guard)
	}
	return false
}

// guardOf returns the line with the condition for line i; deep is false if there is none.
func guardOf(text []string, i int) (guard string, deep bool) {
	for _, above := range slices.Backward(text[max(0, i-near):i]) {
		if line := strings.TrimSpace(above); line != "" && indent(above) < indent(text[i]) {
			return line, conditions().opens.MatchString(line)
		}
	}
	return "", false
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
