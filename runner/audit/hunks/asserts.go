package hunks

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	codename "ralph/runner/audit/names"
	"ralph/runner/audit/values"
)

var helper = sync.OnceValue(func() (p struct{ starts, asserts *regexp.Regexp }) {
	p.starts = regexp.MustCompile(`^\s*(?:export )?(?:async )?(?:def |function |func (?:\([^)]*\) )?|fn |pub fn |` +
		`const |let |class |macro_rules! )?(\w+)\s*(?:=\s*(?:async )?\(|=\s*function|\([^;]*\)[^;]*[:{]\s*(?:#.*)?$|` +
		`\(\)\s*\{?\s*(?:#.*)?$|\{$)`)
	p.asserts = regexp.MustCompile(`(?i)^_?(?:t_)?(?:assert|expect|check|verify|ensure|should|must)|` +
		`(?:equal|_eq|same)$`)
	return p
})

// OnlyAsserts reports whether every changed line is in a function that asserts or is new, and at least one line was
// removed.
func OnlyAsserts(before, after string) bool {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	comment := func(line string) bool { return patterns().comment.MatchString(strings.TrimSpace(line)) }
	lost, added := slices.DeleteFunc(values.Without(was, is), comment),
		slices.DeleteFunc(values.Without(is, was), comment)
	return len(lost) > 0 && Inside(was, lost, "") && Inside(is, added, before)
}

// Inside reports whether all these lines of a text are below the first line of a function that asserts. One that the
// text did not have before may do anything.
func Inside(text, some []string, before string) bool {
	name := ""
	for _, line := range text {
		m := helper().starts.FindStringSubmatch(line)
		if m != nil && !keyword(m[1]) {
			name = m[1]
		}
		if slices.Contains(some, line) && strings.ContainsFunc(line, unicode.IsLetter) &&
			(name == "" || !helper().asserts.MatchString(name) && (before == "" || codename.In(before, name))) {
			return false
		}
	}
	return true
}

// keyword reports whether a word opens a block inside of a function.
func keyword(word string) bool {
	return slices.Contains([]string{"if", "else", "try", "do", "loop", "for", "while", "switch", "case", "elif",
		"with", "catch", "until", "match"}, word)
}
