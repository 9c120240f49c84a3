package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/lang"
)

// removed names the tests that are gone without an honest reason, by file.
func (c *comparison) removed() []Finding {
	names := map[string][]string{}
	for j, b := range c.before.tests {
		if c.matched[j] {
			continue
		}
		b.measure(c.l)
		if c.does(b) && !c.mentionsGone(b.body) && !c.kept(b) && !c.absorbed(b) && !c.cut(b) {
			names[b.file] = append(names[b.file], b.name)
		}
	}
	var found []Finding
	for file, tests := range names {
		found = append(found, Finding{Kind: KindTestsRemoved, File: file,
			Text: fmt.Sprintf("%s: %s", number(len(tests), "1 test was removed, and what it tested is still there", "%d tests were removed, and what they tested is still there"), list(tests))})
	}
	return found
}

// does says whether the test does anything: a mark for later does not.
func (c *comparison) does(b *test) bool {
	return b.strength+b.rows > 0 || len(c.calls(b.body)) > 0
}

// number is one of two texts, the second with the number in it.
func number(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

func list(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

func (c *comparison) mentionsGone(s lang.Source) bool {
	gone := c.gone()
	return slices.ContainsFunc(lang.Tokens(s), func(t lang.Token) bool { return gone[t.Text] })
}

// fresh is what tests that run check now and did not before: each check with
// the tests that have it, by index.
type fresh struct {
	checks map[string][]int
	words  lang.Bag
}

func (c *comparison) freshChecks() fresh {
	all := fresh{map[string][]int{}, lang.Bag{}}
	for i, a := range c.after.tests {
		whole, was := a.whole(), lang.Source{}
		if j, old := c.pairs[i]; old {
			was, whole = lang.Changed(c.before.tests[j].whole(), whole)
		}
		if a.measure(c.l); whole.Code == "" || a.skip > lang.Platform || a.strength == 0 {
			continue
		}
		words := lang.Words(whole)
		for text, n := range words {
			all.words[text] += n
		}
		before := c.checkBag(was)
		for key, n := range c.checkBag(whole) {
			for range n - before[key] {
				all.checks[key] = append(all.checks[key], i)
			}
		}
	}
	return all
}

func (c *comparison) checkBag(s lang.Source) lang.Bag {
	keys := lang.Bag{}
	checks, _ := c.l.Checks(s)
	for _, check := range checks {
		keys[check.Key()]++
	}
	return keys
}

// kept says whether all that a test checked is checked by other tests now, and
// not for another removed test.
func (c *comparison) kept(b *test) bool {
	checks, there := c.checkBag(b.whole()), c.fresh()
	body := c.withoutMessages(b.body)
	values := lang.Literals(body)
	delete(values, b.name)
	for key, n := range checks {
		if len(there.checks[key]) < n {
			return false
		}
	}
	if len(checks) == 0 || c.calls(body).Share(there.words) < 1 || values.Share(there.words) < 1 {
		return false
	}
	for key, n := range checks {
		for _, i := range there.checks[key][:n] {
			c.checks[i] -= 2
		}
		there.checks[key] = there.checks[key][n:]
	}
	return true
}

// cutBranches are the functions from which something was taken out and to which
// nothing was added, by how many branches they lost.
func (c *comparison) cutBranches() map[string]int {
	lost := map[string]int{}
	branches := func(text string) int { return len(shapes().branch.FindAllString(text, -1)) }
	for name, was := range c.was().code {
		is := c.is().code[name]
		if n := branches(was) - branches(is); is == "" || n <= 0 {
			continue
		} else if lang.Words(lang.Source{Text: is, Code: is}).Within(lang.Words(lang.Source{Text: was, Code: was})) {
			lost[name] = n
		}
	}
	return lost
}

// cut says whether a function that the test calls lost a branch, and no other
// test went with it.
func (c *comparison) cut(b *test) bool {
	for _, name := range slices.Sorted(maps.Keys(c.calls(b.body))) {
		if c.cuts()[name] > 0 {
			c.cuts()[name]--
			return true
		}
	}
	return false
}

// absorbed says whether a test became part of another one, which has grown for
// it by a row or by as many checks: same calls, same literals.
func (c *comparison) absorbed(b *test) bool {
	body := c.withoutMessages(b.body)
	lits, calls := lang.Literals(body), c.calls(body)
	if c.l.Wordy {
		lits = lang.Words(body)
	}
	delete(lits, b.name) // its rows and the test that it went into have names of their own
	for i, a := range c.after.tests {
		if a.skip > b.skip || a.strength < 2 || c.rows[i] < 1 && c.checks[i] < max(b.strength, 2) {
			continue
		}
		there := c.bagsOf(a).helped()
		if len(lits) == 0 && calls.Share(there) < 1 || lits.Share(there) < absorbShare || calls.Share(there) < 0.5 {
			continue
		}
		if c.rows[i] >= 1 {
			c.rows[i]--
		} else {
			c.checks[i] -= max(b.strength, 2)
		}
		return true
	}
	return c.spread(b, lits)
}

// spread says whether the rows of a table became tests of their own.
func (c *comparison) spread(b *test, lits lang.Bag) bool {
	if b.rows < 2 || len(lits) == 0 || lits.Share(c.newWords()) < absorbShare {
		return false
	}
	parts := 0
	for _, i := range c.unpaired() {
		a := c.after.tests[i]
		if a.strength >= 2 && lits.Share(c.bagsOf(a).lits) > 0 {
			parts++
		}
	}
	return parts >= b.rows
}

// wordsOfNew are the literals of new tests.
func (c *comparison) wordsOfNew() lang.Bag {
	all := lang.Bag{}
	for _, i := range c.unpaired() {
		if a := c.after.tests[i]; a.strength >= 2 {
			for text, n := range c.bagsOf(a).lits {
				all[text] += n
			}
		}
	}
	return all
}

// ownTest says whether a row of a table became a new test: it has the values of
// the row, perhaps in its name, and calls what the table is for.
func (c *comparison) ownTest(row lang.Source, b *test) bool {
	lits := lang.Literals(row)
	if len(lits) == 0 {
		return false
	}
	for _, i := range c.unpaired() {
		a := c.after.tests[i]
		a.measure(c.l)
		if a.strength < 2 || a.skip > lang.Platform {
			continue
		}
		now, all := c.bagsOf(a), true
		for text := range lits {
			all = all && (now.words[text] > 0 || strings.Contains(now.name, strings.ToLower(text)))
		}
		if all && len(now.calls) > 0 && now.calls.Share(c.bagsOf(b).calls) > 0 {
			return true
		}
	}
	return false
}

// bags are the words of a test, which is compared with many others.
type bags struct {
	name               string // in lower case
	words, lits, calls lang.Bag
	helped             func() lang.Bag // words, and those of its helpers
}

func (c *comparison) bagsOf(t *test) *bags {
	if c.bags[t] == nil {
		whole := t.whole()
		c.bags[t] = &bags{strings.ToLower(t.name), lang.Words(whole), lang.Literals(whole), c.calls(t.body), sync.OnceValue(func() lang.Bag { return lang.Words(c.withHelpers(whole)) })}
	}
	return c.bags[t]
}

// calls are the functions that a test calls, without those that assert, and it().
func (c *comparison) calls(s lang.Source) lang.Bag {
	b := lang.BagOf(s, lang.Call)
	for name := range b {
		if c.l.Extent == lang.Parens && c.l.Test.MatchString(name+"(") || c.l.Assertion.MatchString(name+"(") || c.l.Assertion.MatchString("t."+name+"(") {
			delete(b, name)
		}
	}
	return b
}

func (c *comparison) withoutMessages(s lang.Source) lang.Source {
	return s.Filter(func(text, _ string) bool { return !c.l.Message.MatchString(text) })
}
