package audit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ralph/runner/audit/lang"
)

// What tests expect may change with the code, and nothing tells whether the
// new value is right. When no code changed it is worth a question.

var outputs = sync.OnceValue(func() (p struct{ golden, prose, label, operator *regexp.Regexp }) {
	p.golden = regexp.MustCompile(`(?i)\.(?:snap|golden|ambr|approved|stdout)$|[._-](?:golden|approved|expected|want|snap)\.\w+$|(?:^|/)(?:__snapshots__|snapshots|goldens?|expected|approved)/`)
	p.prose = regexp.MustCompile(`(?i)\.(?:md|mdx|rst|adoc)$|(?:^|/)(?:licen[cs]e|notice|authors|codeowners|\.gitignore|\.gitattributes)$|^\.(?:github|ralph)/`)
	p.label = regexp.MustCompile("^(?:exports\\[.*|//.*|(?:source|expression|assertion_line|snapshot_kind):.*|`;)$")
	p.operator = regexp.MustCompile(`^(?:[!=<>]+|is|not_?|Not|in|_(?:eq|ne)|is_\w+|NoError|Error)$`)
	return p
})

// isGolden says whether the file holds what a test expects, and no code.
func isGolden(path string) bool {
	return outputs().golden.MatchString(path) &&
		(lang.Of(path) == nil || shapes().testFolder.MatchString(path) || shapes().dataFolder.MatchString(path))
}

// compareExpected finds expectations that changed while no code did that the
// test can reach.
func compareExpected(in Input, all map[*lang.Language]*comparison) []Finding {
	code, known := changedCode(in.Files, all)
	if in.Partial || !known {
		return nil
	}
	var found []Finding
	for _, l := range lang.All() {
		found = append(found, all[l].expectations(code)...)
	}
	if len(code) > 0 {
		return found
	}
	return append(found, goldenFindings(in.Files)...)
}

// changedCode is what changed that tests could notice: all but tests, what they
// expect, comments and prose. Not known is true when something else than code
// of a known language changed, such as data or a dependency.
func changedCode(files []File, all map[*lang.Language]*comparison) (code []changedFile, known bool) {
	for _, f := range files {
		if f.Before == f.After && f.Existed == f.Exists || isGolden(f.Path) || outputs().prose.MatchString(f.Path) {
			continue
		}
		l := lang.Of(f.Path)
		if l == nil || isData(l, f.Before) || isData(l, f.After) {
			return nil, false
		}
		if isTest := l.TestFiles.MatchString(f.Path) && !l.Inline(); isTest && !shapes().dataFolder.MatchString(f.Path) {
			continue
		}
		if c := all[l]; c.before.outside(f.Path) != c.after.outside(f.Path) {
			code = append(code, newChangedFile(l, f))
		}
	}
	return code, true
}

// reaches says whether a test file uses changed code: by its package, by the
// name of its file or folder, or by what it defines. Code that both use is not
// looked for, but an old file in the same folder may be that.
func (c *comparison) reaches(test string, code []changedFile) bool {
	words, text := map[string]bool{}, ""
	for _, f := range code {
		if f.l != c.l || f.l.Wordy || path.Dir(f.Path) == path.Dir(test) && (f.l.Package || f.Existed) {
			return true // what runs code of another language cannot be seen
		}
		if text == "" {
			text = lang.Mask(c.l, c.after.files[test].raw).Text
			for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				words[w] = true
			}
		}
		for name := range f.defined() {
			if words[name] {
				return true
			}
		}
		folder := path.Base(path.Dir(f.Path))
		if words[module(f.Path)] || folder != "." && strings.Contains(text, folder) &&
			regexp.MustCompile(`["'/.\s]`+regexp.QuoteMeta(folder)+`["';\s]`).MatchString(text) {
			return true
		}
	}
	return false
}

// changedFile is a file of code that changed, with the names of what it defines
// before or after.
type changedFile struct {
	File
	l       *lang.Language
	defined func() map[string]string
}

func newChangedFile(l *lang.Language, f File) changedFile {
	return changedFile{f, l, sync.OnceValue(func() map[string]string {
		all := map[string]string{}
		for _, side := range []string{f.Before, f.After} {
			define(all, l, lang.Mask(l, side))
		}
		return all
	})}
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
func (c *comparison) expectations(code []changedFile) []Finding {
	first, more := map[string]string{}, map[string][]string{}
	same := map[[2]string]bool{} // all but the tests of the file
	for i := range c.after.tests {
		j, old := c.pairs[i]
		if !old || c.told[i] {
			continue
		}
		a, b := c.after.tests[i], c.before.tests[j]
		if a.whole() == b.whole() {
			continue
		}
		files := [2]string{b.file, a.file}
		if _, known := same[files]; !known {
			same[files] = c.before.outside(b.file) == c.after.outside(a.file) && !c.reaches(a.file, code)
		}
		if !same[files] {
			continue
		}
		switch was, is, changed := changedValues(c.l, b, a); {
		case !changed:
		case first[a.file] == "":
			first[a.file] = fmt.Sprintf("the test %q %s", a.name, expects(was, is))
		default:
			more[a.file] = append(more[a.file], a.name)
		}
	}
	var found []Finding
	for file, text := range first {
		reason := ", and no code that it tests changed: was the test wrong?"
		if n := len(more[file]); n > 0 {
			text += fmt.Sprintf("; %s something else too: %s; no code that they test changed", number(n, "1 more test expects", "%d more tests expect"), list(more[file]))
			reason = ": were the tests wrong?"
		}
		found = append(found, Finding{Kind: KindExpectationChanged, File: file, Doubt: true, Text: text + reason})
	}
	return found
}

// expects tells a change of expected values.
func expects(was, is []string) string {
	was, is = slices.DeleteFunc(was, outputs().operator.MatchString), slices.DeleteFunc(is, outputs().operator.MatchString)
	switch {
	case len(was)+len(is) == 0:
		return "compares in another way now"
	case len(was) == 0:
		return fmt.Sprintf("expects %s now, and did not before", values(is))
	case len(is) == 0:
		return fmt.Sprintf("expects %s no longer", values(was))
	}
	return fmt.Sprintf("expects %s now, before %s", values(is), values(was))
}

// changedValues are expected values that only one side has. None when other
// lines of the test changed too: then it may test something else.
func changedValues(l *lang.Language, b, a *test) (was, is []string, changed bool) {
	one, other := lang.Changed(b.whole(), a.whole())
	before, setup := l.Checks(one)
	after, setupNow := l.Checks(other)
	slices.Sort(setup)
	slices.Sort(setupNow)
	if !slices.Equal(setup, setupNow) {
		return nil, nil, false
	}
	for _, pair := range pairChecks(missing(before, after), missing(after, before)) {
		x, y := pair[0].Values, pair[1].Values
		one, other := without(x, y), without(y, x)
		if len(one)+len(other) == 0 { // in another order
			one, other = x, y
		}
		was, is = append(was, one...), append(is, other...)
	}
	return was, is, len(was)+len(is) > 0
}

// missing are the checks that are not among the others.
func missing(checks, others []lang.Check) (left []lang.Check) {
	there := map[string]bool{}
	for _, x := range others {
		there[x.Key()] = true
	}
	return slices.DeleteFunc(slices.Clone(checks), func(x lang.Check) bool { return there[x.Key()] })
}

// pairChecks finds what became of each lost check: one in the same place. Rows
// of a table have something in common and differ in the last value, which is
// the one that is expected.
func pairChecks(lost, added []lang.Check) (pairs [][2]lang.Check) {
	const most = 100 // rows with the same value to look at
	places, used := map[string][]int{}, make([]bool, len(added))
	for i, y := range added {
		for _, key := range keysOf(y) {
			places[key] = append(places[key], i)
		}
	}
	for _, x := range lost {
		for _, key := range keysOf(x) {
			for len(places[key]) > 0 && used[places[key][0]] {
				places[key] = places[key][1:]
			}
			all := places[key][:min(len(places[key]), most)]
			if at := slices.IndexFunc(all, func(i int) bool { return !used[i] && (!x.Row || last(x) != last(added[i])) }); at >= 0 {
				used[all[at]], pairs = true, append(pairs, [2]lang.Check{x, added[all[at]]})
				break
			}
		}
	}
	return pairs
}

// keysOf is the place of a check, and of a row its place with each value.
func keysOf(c lang.Check) []string {
	if !c.Row {
		return []string{c.Place()}
	}
	var all []string
	for _, v := range c.Values {
		all = append(all, c.Place()+"\x00\x00\x00"+v)
	}
	return all
}

func last(c lang.Check) string { return c.Values[len(c.Values)-1] }

// without is what x has more often than y.
func without(x, y []string) []string {
	have := map[string]int{}
	for _, v := range y {
		have[v]++
	}
	return slices.DeleteFunc(slices.Clone(x), func(v string) bool {
		have[v]--
		return have[v] >= 0
	})
}

func values(all []string) string {
	const most = 60
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
	text := "expected output was rewritten, and no code changed"
	if n := len(rewritten) - 1; n > 0 {
		text += fmt.Sprintf(" (%s: %s)", number(n, "the same in 1 more file", "the same in %d more files"), list(rewritten[1:]))
	}
	return []Finding{{Kind: KindExpectationChanged, File: rewritten[0], Doubt: true, Text: text + ": was it wrong?"}}
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
