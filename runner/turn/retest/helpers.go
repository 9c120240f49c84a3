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
	p.starts = regexp.MustCompile(`^\s*(?:export )?(?:async )?(?:def |function |func (?:\([^)]*\) )?|fn |pub fn |const |let |class |macro_rules! )?(\w+)\s*(?:=\s*(?:async )?\(|=\s*function|\([^;]*\)[^;]*[:{]\s*(?:#.*)?$|\(\)\s*\{?\s*(?:#.*)?$|\{$)`)
	p.asserts = regexp.MustCompile(`(?i)^_?(?:t_)?(?:assert|expect|check|verify|ensure|should|must)|(?:equal|_eq|same)$`)
	return p
})

// loosened are the changed files in which nothing changed but the bodies of functions that assert. With them as before, the
// tests must still pass: what they accept may have grown.
func loosened(files []git.Text) (u undo) {
	for _, f := range files {
		if f.Existed && f.Exists && !isData(f.Path) && (isTest(f.Path) || isProduct(f)) && onlyAsserts(f.Before, f.After) {
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	u.helpers = true
	return u
}

// onlyAsserts reports whether all lines that changed are inside functions that assert, and at least one line is gone.
func onlyAsserts(before, after string) bool {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	comment := func(line string) bool { return commented().MatchString(line) }
	lost, added := slices.DeleteFunc(values.Without(was, is), comment), slices.DeleteFunc(values.Without(is, was), comment)
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

var commented = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?://|#[^\[!]|/?\*)`) })

// keyword reports whether a word opens a block inside of a function.
func keyword(word string) bool {
	return slices.Contains([]string{"if", "else", "try", "do", "loop", "for", "while", "switch", "case", "elif", "with", "catch", "until", "match"}, word)
}
