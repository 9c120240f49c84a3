package audit

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

const (
	maxText  = 1 << 20 // larger files are data, not tests
	maxPairs = 1 << 22 // files that need more comparisons of lines are not judged
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
	moved := arrived(files)
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil || !f.Existed {
			continue
		}
		lost := l.count(f.Before)
		if lost == 0 || l.count(f.After) > 0 || l.skipped(f.After) || mentions(f.Before, gone()) {
			continue
		}
		if moved >= lost { // they do not count for another file
			moved -= lost
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

// arrived counts the tests that were added to test files.
func arrived(files []File) (n int) {
	for _, f := range files {
		if l := languageOf(f.Path); l != nil && f.Exists {
			n += max(0, l.count(f.After)-l.count(f.Before))
		}
	}
	return n
}

var words = lazy.Regexp(`[\pL_][\pL\pN_]{3,}`)

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
