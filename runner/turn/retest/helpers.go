package retest

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/values"
	"ralph/runner/git"
)

var helper = sync.OnceValue(func() (p struct{ starts, asserts *regexp.Regexp }) {
	p.starts = regexp.MustCompile(`^\s*(?:export )?(?:async )?(?:def |function |func (?:\([^)]*\) )?|fn |pub fn |const |let |class )?(\w+)\s*(?:=\s*(?:async )?\(|=\s*function|\([^;]*\)[^;]*[:{]\s*(?:#.*)?$|\(\)\s*\{?\s*(?:#.*)?$)`)
	p.asserts = regexp.MustCompile(`(?i)^_?(?:t_)?(?:assert|expect|check|verify|ensure|should|must)|(?:equal|_eq|same)$`)
	return p
})

// loosened are the changed files of tests in which nothing changed but the bodies of functions that assert. With them as
// before, the tests must still pass: what they accept may have grown.
func loosened(files []git.Text) (u undo) {
	for _, f := range files {
		if f.Existed && f.Exists && isTest(f.Path) && !isData(f.Path) && onlyAsserts(f.Before, f.After) {
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	u.helpers = true
	return u
}

// onlyAsserts reports whether all lines that changed are inside functions that assert, and at least one line is gone.
func onlyAsserts(before, after string) bool {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	lost, added := values.Without(was, is), values.Without(is, was)
	return len(lost) > 0 && inside(was, lost) && inside(is, added)
}

// inside reports whether all these lines of a text are below the first line of a function that asserts.
func inside(text, some []string) bool {
	name := ""
	for _, line := range text {
		m := helper().starts.FindStringSubmatch(line)
		if m != nil && !keyword(m[1]) {
			name = m[1]
		}
		if slices.Contains(some, line) && strings.TrimSpace(line) != "" && (name == "" || !helper().asserts.MatchString(name)) {
			return false
		}
	}
	return true
}

// keyword reports whether a word opens a block inside of a function.
func keyword(word string) bool {
	return slices.Contains([]string{"if", "for", "while", "switch", "case", "elif", "else", "with", "catch", "until", "match"}, word)
}
