package audit

import (
	"slices"
	"strings"
)

// Traces remembers what the turns of a run changed, to tell whether it is still there. The zero value is empty.
type Traces struct {
	turns map[int][]trace // by iteration
	first map[string]File // each file as it was before the first of these changes
	bytes int
}

// trace is the part of a file that a turn changed.
type trace struct {
	file            string
	existed, exists bool     // before and after the turn
	before, after   string   // the changed lines, with the lines around them
	added           []string // lines that say something and were not there before
}

// maxTraces bounds the texts that are kept, in bytes. Later turns are not followed.
const maxTraces = 8 << 20

// Add keeps what a turn changed.
func (t *Traces) Add(iteration int, files []File) {
	var all []trace
	for _, f := range files {
		if f.Before == f.After && f.Existed == f.Exists {
			continue
		}
		all = append(all, traceOf(f))
		t.bytes += len(f.Before) + len(f.After)
	}
	if t.bytes > maxTraces || len(all) == 0 {
		return
	}
	if t.turns == nil {
		t.turns, t.first = map[int][]trace{}, map[string]File{}
	}
	t.turns[iteration] = all
	for _, f := range files {
		if _, known := t.first[f.Path]; !known {
			t.first[f.Path] = File{After: f.Before, Exists: f.Existed}
		}
	}
}

// framed is a text with its beginning and its end as lines of their own.
func framed(text string) string { return "\x00\n" + text + "\x00" }

func traceOf(f File) trace {
	t := trace{file: f.Path, existed: f.Existed, exists: f.Exists}
	was, is := strings.SplitAfter(framed(f.Before), "\n"), strings.SplitAfter(framed(f.After), "\n")
	head, tail := 0, 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	from, rest := max(head-1, 0), max(tail-1, 0)
	t.before, t.after = strings.Join(was[from:len(was)-rest], ""), strings.Join(is[from:len(is)-rest], "")
	for _, line := range is[head : len(is)-tail] {
		if line = strings.Trim(line, " \t\n\x00"); len(line) > 3 && !strings.Contains(f.Before, line) {
			t.added = append(t.added, line)
		}
	}
	return t
}

// Undone returns the iterations of which nothing is left: all that they changed is as before, and their lines are
// nowhere else; or all tests that they added are gone, with most of their code. changed are the files that differ from
// the beginning of the run, edited those that people have edited.
func (t *Traces) Undone(changed []File, edited []string) (iterations []int) {
	now := map[string]File{}
	for _, f := range changed {
		now[f.Path] = f
	}
	for iteration, all := range t.turns {
		if !slices.ContainsFunc(all, func(c trace) bool {
			f, differs := now[c.file]
			if !differs { // it is as it was when the run began
				f = t.first[c.file]
			}
			return slices.Contains(edited, c.file) || !c.undone(f, changed)
		}) || gutted(all, changed, edited) {
			iterations = append(iterations, iteration)
		}
	}
	slices.Sort(iterations)
	return iterations
}

// gutted reports whether all tests that a turn added are gone, and more than half of the lines of its code.
func gutted(all []trace, changed []File, edited []string) bool {
	is := map[string]bool{}
	for _, f := range changed {
		for _, line := range lines(f.After) {
			is[strings.TrimSpace(line)] = true
		}
	}
	tests, code, lost := 0, 0, 0
	for _, c := range all {
		if slices.Contains(edited, c.file) {
			return false
		}
		l := languageOf(c.file)
		for _, line := range c.added {
			switch {
			case l != nil && l.test.MatchString(line):
				if tests++; is[line] {
					return false
				}
			case l == nil && !isProse(c.file) || l != nil && l.inline():
				if code++; !is[line] {
					lost++
				}
			}
		}
	}
	return tests > 0 && 2*lost > code
}

// undone reports whether nothing is left of a change in the file as it is now.
func (c trace) undone(now File, changed []File) bool {
	if now.Exists != c.existed {
		return false
	}
	text := framed(now.After)
	if c.existed && (!strings.Contains(text, c.before) || c.exists && len(c.added) == 0 && strings.Count(text, c.before) <= strings.Count(c.after, c.before)) {
		return false
	}
	return !slices.ContainsFunc(c.added, func(line string) bool {
		return strings.Contains(now.After, line) ||
			slices.ContainsFunc(changed, func(f File) bool { return strings.Contains(f.After, line) })
	})
}
