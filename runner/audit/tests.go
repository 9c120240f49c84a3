package audit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	maxText  = 1 << 20 // larger files are data, not tests
	maxPairs = 1 << 22 // files that need more comparisons of lines are not judged
	// sameFile is the minimum share of a deleted file's lines in other files for it to
	// count as moved.
	sameFile = 0.5
)

// compareTests finds deleted test files and newly skipped tests.
func compareTests(in Input) []Finding {
	files := slices.DeleteFunc(slices.Clone(in.Files), func(f File) bool {
		return max(len(f.Before), len(f.After)) > maxText || f.Before == f.After && f.Existed == f.Exists
	})
	var found []Finding
	if !in.Partial {
		found = removedFiles(files)
	}
	found = append(found, addedSkips(files)...)
	for i, f := range found {
		found[i].Doubt = in.excused(f.Kind)
	}
	return found
}

// removedFiles finds test files that are gone or have no tests left, although the tests
// have not moved and the code that they tested still exists.
func removedFiles(files []File) []Finding {
	var found []Finding
	gone := sync.OnceValue(func() map[string]bool { return goneWords(files) })
	to := sync.OnceValue(func() *arrivals { return arrived(files) })
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil || !f.Existed {
			continue
		}
		lost := l.count(f.Before)
		if lost == 0 || l.count(f.After) > 0 || l.skipped(f.After) || to().took(f, lost) || mentions(f.Before, gone()) {
			continue
		}
		what, tests := "the test file was deleted", "tests"
		if f.Exists {
			what = "no test is left in the file"
		}
		if lost == 1 {
			tests = "test"
		}
		found = append(found, Finding{Kind: KindTestsRemoved, File: f.Path,
			Text: fmt.Sprintf("%s (%d %s), and what it tested is still there", what, lost, tests)})
	}
	return found
}

// count counts the tests in a text.
func (l *language) count(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if l.test.MatchString(strings.TrimSpace(line)) {
			n++
		}
	}
	if n == 0 && l.script && strings.TrimSpace(text) != "" {
		return 1
	}
	return n
}

// skipped reports whether a text has tests with a skip mark.
func (l *language) skipped(text string) bool {
	return slices.ContainsFunc(lines(text), l.mark.MatchString)
}

// arrivals are the tests and lines that were added to test files.
type arrivals struct {
	tests int
	lines map[string]bool
}

func arrived(files []File) *arrivals {
	a := &arrivals{lines: map[string]bool{}}
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil || !f.Exists {
			continue
		}
		a.tests += max(0, l.count(f.After)-l.count(f.Before))
		for _, line := range Without(lines(f.After), lines(f.Before)) {
			a.lines[line] = true
		}
	}
	return a
}

// took reports whether the tests of a file moved to others: they got as many tests, which
// then do not count for another file, or most of its lines.
func (a *arrivals) took(f File, tests int) bool {
	if a.tests >= tests {
		a.tests -= tests
		return true
	}
	all, same := 0, 0
	for _, line := range lines(f.Before) {
		if len(line) < 4 {
			continue // brackets
		}
		all++
		if a.lines[line] {
			same++
		}
	}
	return a.tests > 0 && float64(same) >= sameFile*float64(all)
}

var words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL_][\pL\pN_]{3,}`) })

// goneWords returns the words that disappeared from code outside of tests, and the names
// of deleted files.
func goneWords(files []File) map[string]bool {
	gone := map[string]bool{}
	var still []string
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil && !paths().code.MatchString(f.Path) || l != nil && !l.inline() {
			continue
		}
		for _, w := range words().FindAllString(f.Before, -1) {
			gone[w] = true
		}
		if f.Existed && !f.Exists {
			name, _, _ := strings.Cut(path.Base(f.Path), ".")
			gone[name] = true
		}
		still = append(still, words().FindAllString(f.After, -1)...)
	}
	for _, w := range still {
		delete(gone, w)
	}
	return gone
}

func mentions(text string, gone map[string]bool) bool {
	return len(gone) > 0 && slices.ContainsFunc(words().FindAllString(text, -1), func(w string) bool { return gone[w] })
}
