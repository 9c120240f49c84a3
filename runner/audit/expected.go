package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/lang"
)

// What tests expect may change with the code, and nothing tells whether the
// new value is right. When no code changed it is worth a question.

var outputs = sync.OnceValue(func() (p struct{ golden, prose, label *regexp.Regexp }) {
	p.golden = regexp.MustCompile(`(?i)\.(?:snap|golden|ambr|approved|stdout)$|[._-](?:golden|approved|expected|want|snap)\.\w+$|(?:^|/)(?:__snapshots__|snapshots|goldens?|expected|approved)/`)
	p.prose = regexp.MustCompile(`(?i)\.(?:md|mdx|rst|adoc)$|(?:^|/)(?:licen[cs]e|notice|authors|codeowners|\.gitignore|\.gitattributes)$|^\.(?:github|ralph)/`)
	p.label = regexp.MustCompile("^(?:exports\\[.*|//.*|(?:source|expression|assertion_line|snapshot_kind):.*|`;)$")
	return p
})

// isGolden says whether the file holds what a test expects, and no code.
func isGolden(path string) bool {
	return outputs().golden.MatchString(path) &&
		(lang.Of(path) == nil || shapes().testFolder.MatchString(path) || shapes().dataFolder.MatchString(path))
}

// compareExpected finds expectations that changed while no code did.
func compareExpected(in Input, all map[*lang.Language]*comparison) []Finding {
	if in.Partial || codeChanged(in.Files, all) {
		return nil
	}
	var found []Finding
	for _, l := range lang.All() {
		found = append(found, all[l].expectations()...)
	}
	return append(found, goldenFindings(in.Files)...)
}

// codeChanged says whether anything changed that tests could notice: all but
// tests, what they expect, comments and prose.
func codeChanged(files []File, all map[*lang.Language]*comparison) bool {
	for _, f := range files {
		if f.Before == f.After && f.Existed == f.Exists || isGolden(f.Path) || outputs().prose.MatchString(f.Path) {
			continue
		}
		l := lang.Of(f.Path)
		if l == nil || len(f.Before) > maxText || len(f.After) > maxText {
			return true
		}
		if isTest := l.TestFiles.MatchString(f.Path) && !l.Inline(); isTest && !shapes().dataFolder.MatchString(f.Path) {
			continue
		}
		if c := all[l]; c.before.outside(f.Path) != c.after.outside(f.Path) {
			return true
		}
	}
	return false
}

// outside is the code of a file that is no test, without comments and indentation.
func (s *suite) outside(path string) string {
	for _, r := range s.rest {
		if r.path == path {
			if r.src.Code == "" {
				r.src = lang.Mask(s.l, r.raw)
			}
			return strings.Join(contents(r.src.Text), "\n")
		}
	}
	return ""
}

// expectations finds the tests of which nothing but expected values changed.
func (c *comparison) expectations() []Finding {
	texts, more := map[string]string{}, map[string][]string{}
	same := map[[2]string]bool{} // all but the tests of the file
	for i := range c.after.tests {
		j, old := c.pairs[i]
		if !old {
			continue
		}
		a, b := c.after.tests[i], c.before.tests[j]
		if a.whole() == b.whole() {
			continue
		}
		files := [2]string{b.file, a.file}
		if _, known := same[files]; !known {
			same[files] = c.before.outside(b.file) == c.after.outside(a.file)
		}
		if !same[files] {
			continue
		}
		was, is := changedValues(c.l, b, a)
		switch {
		case len(was)+len(is) == 0:
		case texts[a.file] == "":
			texts[a.file] = fmt.Sprintf("the test %q expects %s now, before %s", a.name, values(is), values(was))
		default:
			more[a.file] = append(more[a.file], a.name)
		}
	}
	var found []Finding
	for file, text := range texts {
		if n := len(more[file]); n > 0 {
			text += fmt.Sprintf(" (and %s: %s)", count(n, "more test"), list(more[file]))
		}
		found = append(found, Finding{Kind: KindExpectationChanged, File: file, Doubt: true, Text: text + ", and no code changed: was the test wrong?"})
	}
	return found
}

// changedValues are expected values that only one side has. None when other
// lines of the test changed too: then it may test something else.
func changedValues(l *lang.Language, b, a *test) (was, is []string) {
	before, setup := l.Checks(b.whole())
	after, setupNow := l.Checks(a.whole())
	slices.Sort(setup)
	slices.Sort(setupNow)
	if !slices.Equal(setup, setupNow) {
		return nil, nil
	}
	lost := slices.DeleteFunc(slices.Clone(before), func(x lang.Check) bool { return slices.ContainsFunc(after, x.Same) })
	added := slices.DeleteFunc(slices.Clone(after), func(x lang.Check) bool { return slices.ContainsFunc(before, x.Same) })
	for _, x := range lost {
		i := slices.IndexFunc(added, func(y lang.Check) bool {
			return x.Shape == y.Shape && slices.Equal(x.Inputs, y.Inputs) && (!x.Row || sameExample(x.Values, y.Values))
		})
		if i >= 0 {
			one, other := without(x.Values, added[i].Values), without(added[i].Values, x.Values)
			if len(one)+len(other) == 0 { // in another order
				one, other = x.Values, added[i].Values
			}
			was, is = append(was, one...), append(is, other...)
			added = slices.Delete(added, i, i+1)
		}
	}
	return was, is
}

// sameExample says whether two rows of a table have something in common and
// differ in the last value, which is the one that is expected.
func sameExample(x, y []string) bool {
	return len(without(x, y)) < len(x) && len(x) > 0 && len(y) > 0 && x[len(x)-1] != y[len(y)-1]
}

// without is what x has more often than y.
func without(x, y []string) []string {
	y = slices.Clone(y)
	return slices.DeleteFunc(slices.Clone(x), func(v string) bool {
		i := slices.Index(y, v)
		if i >= 0 {
			y = slices.Delete(y, i, i+1)
		}
		return i >= 0
	})
}

func values(all []string) string {
	const most = 60
	if len(all) == 0 {
		return "less"
	}
	text := []rune(strings.Join(strings.Fields(strings.Join(all, ", ")), " "))
	if len(text) > most {
		text = append(text[:most], []rune("...")...)
	}
	return fmt.Sprintf("%q", string(text))
}

// goldenFindings finds rewritten files of expected output, when no old test
// changed that may have asked for it.
func goldenFindings(files []File) []Finding {
	var rewritten []string
	for _, f := range files {
		was, is := contents(f.Before), contents(f.After)
		switch {
		case !isGolden(f.Path):
			if lang.Of(f.Path) != nil && !within(was, is) {
				return nil
			}
		case !f.Existed || !f.Exists || slices.Equal(was, is):
		case strings.HasSuffix(f.Path, ".snap") && (within(was, is) || within(is, was)): // entries of new or removed tests
		default:
			rewritten = append(rewritten, f.Path)
		}
	}
	if len(rewritten) == 0 {
		return nil
	}
	slices.Sort(rewritten)
	text := "expected output was rewritten"
	if n := len(rewritten) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s: %s)", count(n, "more file"), list(rewritten[1:]))
	}
	return []Finding{{Kind: KindExpectationChanged, File: rewritten[0], Doubt: true, Text: text + ", and no code changed: was it wrong?"}}
}

// within says whether all lines of x are in y, in their order.
func within(x, y []string) bool {
	for _, line := range y {
		if len(x) > 0 && x[0] == line {
			x = x[1:]
		}
	}
	return len(x) == 0
}

// contents are the lines without those that only name what follows.
func contents(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !outputs().label.MatchString(line) {
			all = append(all, line)
		}
	}
	return all
}
