package audit

import (
	"fmt"
	"slices"
	"strings"

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
		if c.does(b) && !c.mentionsGone(b.body) && !c.absorbed(b) {
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

// does says whether the test does anything: a mark for later does not.
func (c *comparison) does(b *test) bool {
	least := 1
	if c.l.Extent == lang.Parens {
		least = 2 // it() is a call itself
	}
	return b.strength+b.rows > 0 || len(c.calls(b.body)) >= least
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

func (c *comparison) mentionsGone(s lang.Source) bool {
	gone := c.gone()
	return slices.ContainsFunc(lang.Tokens(s), func(t lang.Token) bool { return gone[t.Text] })
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
		there := lang.Words(c.withHelpers(a.whole()))
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
	parts, all := 0, lang.Bag{}
	for i, a := range c.after.tests {
		if _, old := c.pairs[i]; old || a.strength < 2 {
			continue
		}
		values := lang.Literals(a.whole())
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
	return b.rows > 1 && parts >= b.rows && lits.Share(all) >= absorbShare
}

// calls are the functions that a test calls, without those that assert.
func (c *comparison) calls(s lang.Source) lang.Bag {
	b := lang.BagOf(s, lang.Call)
	for name := range b {
		if c.l.Assertion.MatchString(name+"(") || c.l.Assertion.MatchString("t."+name+"(") {
			delete(b, name)
		}
	}
	return b
}

func (c *comparison) withoutMessages(s lang.Source) lang.Source {
	return s.Filter(func(text, _ string) bool { return !c.l.Message.MatchString(text) })
}
