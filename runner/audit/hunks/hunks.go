// Package hunks finds the parts of a test file that ask for less than before: text in, text out. Whether that hides a
// failure, only a run of the tests as they were can tell.
package hunks

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	maxLines = 4000 // of a file; longer ones are data
	nearby   = 1    // lines between two hunks that belong together
)

// Hunk is a part of a file that changed.
type Hunk struct {
	Lost, Added []string
	from, to    int // of Added, in the lines of now
}

// Of returns the hunks of a change, in order; none where a function is too long. It compares the functions one by one:
// a new one may have the lines that another lost.
func Of(before, after string) (all []Hunk) {
	is := strings.Split(after, "\n")
	x, y := split(strings.Split(before, "\n")), split(is)
	if long(x, y) {
		return nil
	}
	same, at := common(names(x), names(y)), 0
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && name(x[i]) == name(y[j]):
			all = append(all, within(x[i], y[j], at)...)
			at += len(y[j])
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && same[i+1][j] >= same[i][j+1]:
			all = append(all, Hunk{Lost: x[i], from: at, to: at})
			i++
		default:
			all = append(all, Hunk{Added: y[j], from: at, to: at + len(y[j])})
			at += len(y[j])
			j++
		}
	}
	return joined(all, is)
}

// long reports whether it takes too long to compare two lists.
func long[T any](x, y []T) bool {
	return len(x) > maxLines || len(y) > maxLines || len(x)*len(y) > maxLines*maxLines/4
}

// within returns the hunks of a function whose first line of now is this one of its file.
func within(was, is []string, at int) []Hunk {
	head := 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	if was, is = was[head:len(was)-tail], is[head:len(is)-tail]; long(was, is) {
		return nil
	}
	return compare(was, is, at+head)
}

var function = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(?:pub|async|export) )*(?:(?:func|fn|def|class|function) |` +
		`(?:it|test|describe)\()`)
})

// split cuts a text before each function; what stands before the first is a section, too.
func split(text []string) (all [][]string) {
	from := 0
	for i, line := range text {
		if i > 0 && function().MatchString(line) {
			all, from = append(all, text[from:i]), i
		}
	}
	return append(all, text[from:])
}

func name(section []string) string {
	if len(section) == 0 || !function().MatchString(section[0]) {
		return ""
	}
	return section[0]
}

func names(sections [][]string) (all []string) {
	for _, section := range sections {
		all = append(all, name(section))
	}
	return all
}

// compare returns the hunks between two texts; the second begins at line at of its file.
func compare(x, y []string, at int) (all []Hunk) {
	same := common(x, y)
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		if i < len(x) && j < len(y) && x[i] == y[j] {
			i, j = i+1, j+1
			continue
		}
		h := Hunk{from: at + j}
		for (i < len(x) || j < len(y)) && !(i < len(x) && j < len(y) && x[i] == y[j]) {
			if j == len(y) || i < len(x) && same[i+1][j] >= same[i][j+1] {
				h.Lost = append(h.Lost, x[i])
				i++
			} else {
				h.Added = append(h.Added, y[j])
				j++
			}
		}
		h.to = at + j
		all = append(all, h)
	}
	return all
}

// common is the table of the longest common subsequences: for each pair of lines, that of the texts from there on.
func common(x, y []string) [][]int32 {
	same := make([][]int32, len(x)+1)
	for i := range same {
		same[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				same[i][j] = same[i+1][j+1] + 1
			} else {
				same[i][j] = max(same[i+1][j], same[i][j+1])
			}
		}
	}
	return same
}

// joined merges hunks that are at most nearby lines apart.
func joined(all []Hunk, is []string) (merged []Hunk) {
	for _, h := range all {
		if n := len(merged); n > 0 && h.from-merged[n-1].to <= nearby {
			last := &merged[n-1]
			gap := is[last.to:h.from]
			last.Lost = slices.Concat(last.Lost, gap, h.Lost)
			last.Added = slices.Concat(last.Added, gap, h.Added)
			last.to = h.to
			continue
		}
		merged = append(merged, h)
	}
	return merged
}

// undone is the text of now with the lines of these hunks as they were.
func undone(after string, all []Hunk) string {
	is := strings.Split(after, "\n")
	for _, h := range slices.Backward(all) {
		is = slices.Concat(is[:h.from], h.Lost, is[h.to:])
	}
	return strings.Join(is, "\n")
}
