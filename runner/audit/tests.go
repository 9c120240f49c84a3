package audit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/termtext"
	"ralph/runner/audit/asks"
	"ralph/runner/audit/values"
)

const (
	maxText  = 1 << 20 // larger files are data, not tests
	maxPairs = 1 << 22 // files that need more comparisons of lines are not judged
	// sameFile is the minimum share of a deleted file's lines in other files for it to
	// count as moved.
	sameFile = 0.5
)

// compareTests finds deleted test files and newly skipped tests.
func compareTests(in Input, asked string) []Finding {
	files := slices.DeleteFunc(slices.Clone(in.Files), func(f File) bool {
		return max(len(f.Before), len(f.After)) > maxText || f.Before == f.After && f.Existed == f.Exists
	})
	var found []Finding
	if !in.Partial && !asks.ForRemoval(asked) && !asks.ForFewerTests(asked) {
		found = removedFiles(files)
	}
	if !in.Partial {
		if merged := mergedAway(files); len(merged) > 0 && in.anyTask(asks.ForMerging) {
			found = append(found, merged...)
		}
	}
	if !asks.ForSkips(asked) {
		found = append(found, addedSkips(files)...)
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

// mergedAway finds values that tests lost when they were merged.
func mergedAway(files []File) []Finding {
	var gone, now strings.Builder
	name := ""
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil {
			continue
		}
		now.WriteString(f.After + "\n")
		still := l.names(f.After)
		for test, text := range l.blocks(f.Before) {
			if _, body, ok := strings.Cut(text, "\n"); ok && !still[test] {
				gone.WriteString(body)
				name = f.Path
			}
		}
	}
	if lost := values.Lost(gone.String(), now.String()); len(lost) > 0 {
		return []Finding{{Kind: KindTestsRemoved, File: name, Text: "tests were merged, and no test has these values any more: " + termtext.Some(lost, 5)}}
	}
	return nil
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
	tests  int
	lines  map[string]bool
	values map[string]bool // numbers and quoted texts
}

func arrived(files []File) *arrivals {
	a := &arrivals{lines: map[string]bool{}, values: map[string]bool{}}
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil || !f.Exists {
			continue
		}
		a.tests += max(0, l.count(f.After)-l.count(f.Before))
		added := values.Without(lines(f.After), lines(f.Before))
		for _, line := range added {
			a.lines[line] = true
			for _, v := range values.Literals(line) {
				a.values[v] = true
			}
		}
	}
	return a
}

// took reports whether the tests of a file moved to others: they got as many tests, which
// then do not count for another file, or most of its lines or of its values.
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
	return a.tests > 0 && (float64(same) >= sameFile*float64(all) || values.Kept(f.Before, a.values))
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
