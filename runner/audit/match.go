package audit

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/lang"
)

const (
	maxText     = 1 << 20 // larger files are data, not tests
	maxTests    = 2000    // files with more are data too
	maxPairs    = 1 << 22 // what would be compared more often is not judged
	maxSearch   = 1 << 30 // bytes that are looked through for lines
	sameBody    = 0.6     // similarity from which a body counts as the same under another name
	absorbShare = 0.7     // of the literals of a test that are found where it went
)

// comparison holds the tests of one language before and after.
type comparison struct {
	l             *lang.Language
	before, after *suite
	// was and is are what the code defines, gone what none defines any more.
	// They are read only when something else is suspicious.
	was, is func() definitions
	gone    func() map[string]bool
	pairs   map[int]int // index after -> index before
	matched []bool      // before
	// rows and checks are by how much each test after has grown, less what was
	// found to have gone into it.
	rows, checks map[int]int
	told         map[int]bool // tests after that have a finding
	fresh        func() fresh
	cuts         func() map[string]int
	newLines     func() lang.Bag // of the tests that are new
	newWords     func() lang.Bag // the literals of those that check something
	bags         map[*test]*bags
}

func compareTests(in Input) []Finding {
	all := map[*lang.Language]*comparison{}
	for _, l := range lang.All() {
		before, after := &suite{l: l, files: map[string]*testFile{}}, &suite{l: l, files: map[string]*testFile{}}
		c := &comparison{l: l, before: before, after: after, pairs: map[int]int{}, rows: map[int]int{}, checks: map[int]int{}, told: map[int]bool{},
			was: sync.OnceValue(before.definitions), is: sync.OnceValue(after.definitions), bags: map[*test]*bags{}}
		c.fresh, c.cuts, c.newLines, c.newWords = sync.OnceValue(c.freshChecks), sync.OnceValue(c.cutBranches), sync.OnceValue(c.linesOfNew), sync.OnceValue(c.wordsOfNew)
		all[l] = c
	}
	for _, f := range in.Files {
		c := all[lang.Of(f.Path)]
		if c == nil || isData(c.l, f.Before) || isData(c.l, f.After) {
			continue
		}
		if f.Existed {
			c.before.add(f.Path, f.Before)
		}
		if f.Exists {
			c.after.add(f.Path, f.After)
		}
	}
	gone := sync.OnceValue(func() map[string]bool {
		names := map[string]bool{}
		for _, c := range all {
			goneNames(names, c.was(), c.is())
		}
		return names
	})
	var found []Finding
	for _, l := range lang.All() {
		if c := all[l]; len(c.before.files)+len(c.after.files) > 0 {
			c.gone = gone
			found = append(found, c.findings()...)
		}
	}
	return append(found, compareExpected(in, all)...)
}

// isData says whether a file is too large to be written by hand.
func isData(l *lang.Language, text string) bool {
	const shortest = 3 // it(
	return len(text) > maxText || len(text) > shortest*maxTests && len(l.Test.FindAllStringIndex(text, maxTests+1)) > maxTests
}

// goneNames adds what was defined outside of tests and is no longer, under its
// own or another name.
func goneNames(gone map[string]bool, was, is definitions) {
	numbers, fresh := index{}, [][]int{}
	for name, text := range is.code {
		if _, ok := was.code[name]; !ok {
			fresh = append(fresh, numbers.sorted(lang.Words(lang.Source{Text: text, Code: text})))
		}
	}
	if len(was.code)*len(fresh) > maxPairs {
		fresh = nil
	}
	for name, text := range was.code {
		if _, ok := is.code[name]; ok || len(name) < 3 {
			continue
		}
		old := lang.Words(lang.Source{Text: text, Code: text})
		delete(old, name)
		sorted := numbers.sorted(old)
		if !slices.ContainsFunc(fresh, func(b []int) bool { return len(old) > 3 && similarity(sorted, b) >= sameBody }) {
			gone[name] = true
		}
	}
	for _, m := range [][2]map[string]bool{{was.routes, is.routes}, {was.modules, is.modules}} {
		for name := range m[0] {
			if !m[1][name] && len(name) >= 3 {
				gone[name] = true
			}
		}
	}
}

func (c *comparison) findings() []Finding {
	c.matched = make([]bool, len(c.before.tests))
	c.pair()
	var found []Finding
	for i, a := range c.after.tests {
		j, old := c.pairs[i]
		if old && c.checksTheSame(c.before.tests[j], a) {
			continue
		}
		a.measure(c.l)
		c.rows[i], c.checks[i] = a.rows, a.strength
		if old {
			b := c.before.tests[j]
			b.measure(c.l)
			c.rows[i] -= b.rows
			c.checks[i] -= b.strength
			pair := c.comparePair(b, a)
			c.told[i] = len(pair) > 0
			found = append(found, pair...)
		} else if a.skip == lang.Skipped {
			text := fmt.Sprintf("the new test %q never runs", a.name)
			if a.name == "TestMain" {
				text = "TestMain runs no test"
			}
			found = append(found, Finding{Kind: KindSkipAdded, File: a.file, Text: text})
		}
	}
	found = append(found, c.compareFiles()...)
	return append(found, c.removed()...)
}

// checksTheSame says whether the lines that changed are none that decide what
// the test checks. Lines cost more to measure than to compare.
func (c *comparison) checksTheSame(b, a *test) bool {
	was, is := b.whole(), a.whole()
	if was == is {
		return true
	}
	for _, s := range []lang.Source{was, is} {
		if a.name == "TestMain" || c.l.Skip.MatchString(s.Code) || c.l.Try.MatchString(s.Code) || strings.Contains(s.Code, "return") || strings.Contains(s.Code, "exit") {
			return false // depends on more than its own line
		}
	}
	was, is = lang.Changed(was, is)
	if lang.SameForm(was, is) {
		return c.l.HollowLines(was) >= c.l.HollowLines(is)
	}
	return c.l.Strength(was) == c.l.Strength(is) && len(c.l.Rows(was)) == len(c.l.Rows(is)) && c.l.Dead(was) >= c.l.Dead(is) &&
		!c.l.Loosened(was, is) && lang.BagOf(is, lang.Call).Share(lang.BagOf(was, lang.Call)) == 1
}

// comparePair compares one test with what it was.
func (c *comparison) comparePair(b, a *test) []Finding {
	var found []Finding
	switch {
	case a.skip > max(b.skip, lang.Platform) || a.skip < lang.Skipped && c.callsSkipper(b, a):
		found = append(found, Finding{Kind: KindSkipAdded, File: a.file, Text: fmt.Sprintf("the test %q is skipped now", a.name)})
	case a.exits > b.exits:
		found = append(found, Finding{Kind: KindSkipAdded, File: a.file, Text: fmt.Sprintf("the test %q may return before it checks anything now", a.name)})
	case a.dead > b.dead:
		found = append(found, Finding{Kind: KindSkipAdded, File: a.file, Text: fmt.Sprintf("a part of the test %q cannot run or fail any more", a.name)})
	case c.weaker(b, a):
		kind, text := KindAssertionsRemoved, fmt.Sprintf("the test %q checks less than before", a.name)
		if b.rows > a.rows {
			kind, text = KindTestsRemoved, fmt.Sprintf("the test %q has fewer cases: %d, before %d", a.name, a.rows, b.rows)
		}
		found = append(found, Finding{Kind: kind, File: a.file, Text: text})
	}
	return found
}

// callsSkipper says whether a test newly calls a helper that skips.
func (c *comparison) callsSkipper(b, a *test) bool {
	was := lang.BagOf(b.body, lang.Call)
	for name := range lang.BagOf(a.body, lang.Call) {
		text := c.is().helpers[name]
		if was[name] == 0 && c.l.Skip.MatchString(text) && !c.l.Platform.MatchString(text) {
			return true
		}
	}
	return false
}

// weaker says whether assertions or cases of a test are gone without an honest
// reason: they moved, became a table, were merged, or their subject is gone.
func (c *comparison) weaker(b, a *test) bool {
	lost, lostRows := b.strength-a.strength, b.rows-a.rows
	if lost <= 0 && lostRows <= 0 && !c.l.Loosened(b.body, a.body) || lost > 0 && -2*lostRows >= lost || lostRows > 0 && -lost >= 2*lostRows {
		return false
	}
	if b.rows*len(c.unpaired()) > maxPairs || strings.Count(a.body.Text, "\n")*len(b.body.Text) > maxSearch {
		return false
	}
	vanished, explained := c.vanished(b, a)
	if vanished.Code == "" {
		return !explained // all lines are there, and do not count any more
	}
	return !c.merged(vanished, b, a)
}

// vanished are the lines of b that check something, are not in a, did not move
// to a new test, and are not about something that is gone; explained says
// whether there were such that did or are.
func (c *comparison) vanished(b, a *test) (left lang.Source, explained bool) {
	here, taken, noError, whole := lineBag(a), lang.Bag{}, c.noErrorNow(b), b.whole()
	rows := map[string]bool{}
	for _, row := range c.l.Rows(whole) {
		rows[row] = true
	}
	conditions := true // nothing but conditions is left: what they guard is there
	left = whole.Filter(func(text, code string) bool {
		line := strings.TrimSpace(text)
		if here[line] > 0 {
			here[line]--
			return false
		}
		row := rows[text]
		checks := row || c.l.Assertion.MatchString(code)
		if !checks && !strings.HasPrefix(line, "if ") {
			return false
		}
		if taken[line] < c.newLines()[line] {
			taken[line]++
			explained = true
			return false
		}
		src := lang.Source{Text: text, Code: code}
		if c.mentionsGone(src) || noError && strings.Contains(code, "err") || row && c.ownTest(src, b) {
			explained = true
			return false
		}
		conditions = conditions && !checks
		return true
	})
	if conditions && explained {
		return lang.Source{}, true
	}
	return left, explained
}

func (c *comparison) linesOfNew() lang.Bag {
	all := lang.Bag{}
	for _, i := range c.unpaired() {
		for line, n := range lineBag(c.after.tests[i]) {
			all[line] += n
		}
	}
	return all
}

// noErrorNow says whether a function that the test calls can fail no longer.
func (c *comparison) noErrorNow(b *test) bool {
	for name := range lang.BagOf(b.body, lang.Call) {
		was, _, _ := strings.Cut(c.was().code[name], "\n")
		is, _, _ := strings.Cut(c.is().code[name], "\n")
		if is != "" && strings.Contains(was, "error") && !strings.Contains(is, "error") {
			return true
		}
	}
	return false
}

func lineBag(t *test) lang.Bag {
	b := lang.Bag{}
	for line := range strings.Lines(t.whole().Text) {
		b[strings.TrimSpace(line)]++
	}
	return b
}

// merged says whether new assertions of a, or new helpers that it calls, still
// check the values of the vanished lines.
func (c *comparison) merged(vanished lang.Source, b, a *test) bool {
	fresh := a.body.Filter(func(text, code string) bool {
		return !strings.Contains(b.body.Text, strings.TrimSpace(text)) && !c.l.Hollow(lang.Source{Text: text, Code: code})
	})
	all := c.withHelpers(fresh)
	values := c.withoutMessages(vanished)
	lits := lang.Literals(values)
	if c.l.Excludes(fresh) && c.l.Loosened(vanished, fresh) {
		return false // what was demanded is forbidden
	}
	if len(lits) > 1 && a.strength >= 2 && lits.Share(lang.Words(all)) == 1 {
		return true // all of them are in what is new
	}
	if c.l.Strength(all) < 2 {
		return false
	}
	if lang.Exact(fresh) && !lang.Exact(vanished) {
		return true // what was loose is exact now
	}
	if len(lits) > 0 {
		all = all.Add(a.body)
		return lits.Share(lang.Words(all)) == 1
	}
	words := lang.Words(values)
	delete(words, "assert")
	return words.Share(lang.Words(all)) >= 0.7
}

// withHelpers adds the new helpers that s names.
func (c *comparison) withHelpers(s lang.Source) lang.Source {
	all := s
	for name := range lang.BagOf(s, lang.Word, lang.Call) {
		if text := c.is().helpers[name]; text != "" && c.was().helpers[name] == "" {
			all = all.Add(lang.Mask(c.l, text))
		}
	}
	return all
}
