package audit

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxText     = 1 << 20 // larger files are data, not tests
	sameBody    = 0.6     // similarity from which a body counts as the same under another name
	absorbShare = 0.7     // of the literals of a test that are found where it went
)

// comparison holds the tests of one language before and after.
type comparison struct {
	l             *language
	before, after *suite
	pairs         map[int]int // index after -> index before
	matched       []bool      // before
	gone          map[string]bool
	room          map[int]int // tests that each test after may still have absorbed
}

func compareTests(files []File) []Finding {
	befores, afters := map[*language]*suite{}, map[*language]*suite{}
	for _, l := range languages() {
		befores[l], afters[l] = newSuite(), newSuite()
	}
	for _, f := range files {
		l := languageOf(f.Path)
		if l == nil || len(f.Before) > maxText || len(f.After) > maxText {
			continue
		}
		if f.Existed {
			befores[l].add(l, f.Path, f.Before)
		}
		if f.Exists {
			afters[l].add(l, f.Path, f.After)
		}
	}
	gone := map[string]bool{}
	for _, l := range languages() {
		goneNames(gone, befores[l], afters[l])
	}
	var found []Finding
	for _, l := range languages() {
		if len(befores[l].files)+len(afters[l].files) == 0 {
			continue
		}
		c := comparison{l: l, before: befores[l], after: afters[l], gone: gone, pairs: map[int]int{}, matched: make([]bool, len(befores[l].tests)), room: map[int]int{}}
		found = append(found, c.findings()...)
	}
	return found
}

// goneNames adds what was defined outside of tests and is no longer, under its
// own or another name.
func goneNames(gone map[string]bool, before, after *suite) {
	var fresh []bag
	for name, text := range after.defined {
		if _, ok := before.defined[name]; !ok {
			fresh = append(fresh, words(source{text, text}))
		}
	}
	for name, text := range before.defined {
		if _, ok := after.defined[name]; ok || len(name) < 3 {
			continue
		}
		was := words(source{text, text})
		delete(was, name)
		if !slices.ContainsFunc(fresh, func(b bag) bool { return len(was) > 3 && similarity(was, b) >= sameBody }) {
			gone[name] = true
		}
	}
	for _, m := range []struct{ was, is map[string]bool }{{before.routes, after.routes}, {before.modules, after.modules}} {
		for name := range m.was {
			if !m.is[name] && len(name) >= 3 {
				gone[name] = true
			}
		}
	}
}

func (c *comparison) findings() []Finding {
	c.pair()
	for i, a := range c.after.tests {
		c.room[i] = a.rows + a.strength/2
		if j, ok := c.pairs[i]; ok {
			c.room[i] -= c.before.tests[j].rows + c.before.tests[j].strength/2
		}
	}
	var found []Finding
	for i, a := range c.after.tests {
		if j, ok := c.pairs[i]; ok {
			found = append(found, c.comparePair(c.before.tests[j], a)...)
		} else if a.skip == skipped {
			found = append(found, Finding{Kind: KindSkipAdded, File: a.file, Text: fmt.Sprintf("the new test %q never runs", a.name)})
		}
	}
	found = append(found, c.compareFiles()...)
	return append(found, c.removed()...)
}

// pair finds for each test after the one that it was: by name in the same
// file, by name elsewhere, by its body.
func (c *comparison) pair() {
	match := func(same func(b, a test) bool) {
		for i, a := range c.after.tests {
			if _, ok := c.pairs[i]; ok {
				continue
			}
			for j, b := range c.before.tests {
				if !c.matched[j] && same(b, a) {
					c.pairs[i], c.matched[j] = j, true
					break
				}
			}
		}
	}
	match(func(b, a test) bool { return b.name == a.name && b.file == a.file })
	match(func(b, a test) bool { return b.name == a.name })
	match(func(b, a test) bool { return similarity(words(b.body), words(a.body)) >= sameBody })
}

// removed names the tests that are gone without an honest reason, by file.
func (c *comparison) removed() []Finding {
	names := map[string][]string{}
	for j, b := range c.before.tests {
		if !c.matched[j] && !c.mentionsGone(b.body) && !c.absorbed(b) && b.strength+b.rows > 0 {
			names[b.file] = append(names[b.file], b.name)
		}
	}
	var found []Finding
	for file, tests := range names {
		found = append(found, Finding{Kind: KindTestsRemoved, File: file,
			Text: fmt.Sprintf("%s removed, and what it tested is still there: %s", count(len(tests), "test"), list(tests))})
	}
	return found
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func list(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

func (c *comparison) mentionsGone(s source) bool {
	return slices.ContainsFunc(tokens(s), func(t token) bool { return c.gone[t.text] })
}

// absorbed says whether a test became part of another one, which has grown for
// it: same calls, same literals.
func (c *comparison) absorbed(b test) bool {
	body := c.withoutMessages(b.body)
	lits, calls := literals(body), c.calls(body)
	for i, a := range c.after.tests {
		if c.room[i] < 1 || a.skip > b.skip {
			continue
		}
		whole := a.whole()
		if len(lits) == 0 && calls.share(words(whole)) < 1 || lits.share(literals(whole)) < absorbShare {
			continue
		}
		if calls.share(words(whole)) >= 0.5 {
			c.room[i]--
			return true
		}
	}
	return c.spread(b, lits)
}

// spread says whether the rows of a table became tests of their own.
func (c *comparison) spread(b test, lits bag) bool {
	parts, all := 0, bag{}
	for i, a := range c.after.tests {
		if _, old := c.pairs[i]; old || a.strength < 2 {
			continue
		}
		values := literals(a.whole())
		for text := range values {
			if lits[text] > 0 {
				parts++
				break
			}
		}
		for text, n := range values {
			all[text] += n
		}
	}
	return b.rows > 1 && parts >= b.rows && lits.share(all) >= absorbShare
}

// calls are the functions that a test calls, without those that assert.
func (c *comparison) calls(s source) bag {
	b := bagOf(s, tokenCall)
	for name := range b {
		if c.l.assertion.MatchString(name+"(") || c.l.assertion.MatchString("t."+name+"(") {
			delete(b, name)
		}
	}
	return b
}

func (c *comparison) withoutMessages(s source) source {
	return filter(s, func(text, _ string) bool { return !c.l.message.MatchString(text) })
}

// filter keeps some lines of a source.
func filter(s source, keep func(text, code string) bool) source {
	var text, code []string
	texts := strings.Split(s.text, "\n")
	for i, line := range strings.Split(s.code, "\n") {
		if keep(texts[i], line) {
			text, code = append(text, texts[i]), append(code, line)
		}
	}
	return source{strings.Join(text, "\n"), strings.Join(code, "\n")}
}

// comparePair compares one test with what it was.
func (c *comparison) comparePair(b, a test) []Finding {
	var found []Finding
	switch {
	case a.skip > max(b.skip, platform) || a.skip < skipped && c.callsSkipper(b, a):
		found = append(found, Finding{Kind: KindSkipAdded, File: a.file, Text: fmt.Sprintf("the test %q is skipped now", a.name)})
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
func (c *comparison) callsSkipper(b, a test) bool {
	was := bagOf(b.body, tokenCall)
	for name := range bagOf(a.body, tokenCall) {
		text := c.after.helpers[name]
		if was[name] == 0 && c.l.skip.MatchString(text) && !c.l.platform.MatchString(text) {
			return true
		}
	}
	return false
}

// weaker says whether assertions or cases of a test are gone without an honest
// reason: they moved, became a table, were merged, or their subject is gone.
func (c *comparison) weaker(b, a test) bool {
	lost, lostRows := b.strength-a.strength, b.rows-a.rows
	if lost <= 0 && lostRows <= 0 || lost > 0 && -2*lostRows >= lost || lostRows > 0 && -lost >= 2*lostRows {
		return false
	}
	vanished, explained := c.vanished(b, a)
	if vanished.code == "" {
		return !explained // all lines are there, and do not count any more
	}
	return !c.merged(vanished, b, a)
}

// vanished are the lines of b that check something, are not in a, did not move
// to a new test, and are not about something that is gone; explained says
// whether there were such that did or are.
func (c *comparison) vanished(b, a test) (left source, explained bool) {
	here, elsewhere := lineBag(a), bag{}
	for i, t := range c.after.tests {
		if _, old := c.pairs[i]; !old {
			for line, n := range lineBag(t) {
				elsewhere[line] += n
			}
		}
	}
	whole := b.whole()
	rows := tableRows(c.l, whole)
	left = filter(whole, func(text, code string) bool {
		line := strings.TrimSpace(text)
		if here[line] > 0 {
			here[line]--
			return false
		}
		if !c.l.assertion.MatchString(code) && !slices.Contains(rows, text) && !strings.HasPrefix(line, "if ") {
			return false
		}
		if elsewhere[line] > 0 {
			elsewhere[line]--
			explained = true
			return false
		}
		if c.mentionsGone(source{text, code}) {
			explained = true
			return false
		}
		return true
	})
	return left, explained
}

func lineBag(t test) bag {
	b := bag{}
	for line := range strings.Lines(t.whole().text) {
		b[strings.TrimSpace(line)]++
	}
	return b
}

// merged says whether new assertions of a, or new helpers that it calls, still
// check the values of the vanished lines.
func (c *comparison) merged(vanished source, b, a test) bool {
	fresh := filter(a.body, func(text, _ string) bool { return !strings.Contains(b.body.text, strings.TrimSpace(text)) })
	all := source{fresh.text, fresh.code}
	for name := range bagOf(fresh, tokenWord, tokenCall) {
		if _, old := c.before.helpers[name]; !old {
			m := mask(c.l, c.after.helpers[name])
			all.text += "\n" + m.text
			all.code += "\n" + m.code
		}
	}
	if strength(c.l, all) < 2 {
		return false
	}
	values := c.withoutMessages(vanished)
	if lits := literals(values); len(lits) > 0 {
		all.text += a.body.text
		all.code += a.body.code
		return lits.share(literals(all)) == 1
	}
	return words(values).share(words(all)) >= 0.7
}

// compareFiles finds what keeps more than one test from running.
func (c *comparison) compareFiles() []Finding {
	var found []Finding
	add := func(file, text string) {
		f := Finding{Kind: KindSkipAdded, File: file, Text: text}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	var was, is fileFacts
	for _, f := range c.before.files {
		was.focus, was.blockSkips = was.focus+f.focus, was.blockSkips+f.blockSkips
	}
	for _, f := range c.after.files {
		is.focus, is.blockSkips = is.focus+f.focus, is.blockSkips+f.blockSkips
	}
	for file, f := range c.after.files {
		b, existed := c.before.files[file]
		if is.focus > was.focus && f.focus > b.focus {
			add(file, "only some of the tests run now: a focus (.only) was added")
		}
		if is.blockSkips > was.blockSkips && f.blockSkips > b.blockSkips {
			add(file, "a group of tests is skipped now")
		}
		if existed && f.skips > b.skips {
			add(file, "the whole file may not run any more")
		}
	}
	for i, j := range c.pairs {
		a, b := c.after.tests[i], c.before.tests[j]
		if c.after.files[a.file].skips > c.before.files[b.file].skips {
			add(a.file, "the whole file may not run any more")
		}
	}
	return found
}
