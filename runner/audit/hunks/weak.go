package hunks

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/values"
)

// patterns match single trimmed lines.
var patterns = sync.OnceValue(func() (p struct {
	comment, start, value, empty, asserts, vague, unequal, failure, row, wanted, matches, throws, erring,
	muzzles, long, pattern, message *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.comment = re(`^(?://|#(?:[^\[]|$)|\*|/\*)`)
	p.start = re(`^(?:async )?def test|^func (?:Test|Fuzz|Example)|^#\[(?:\w+::)*test\b|` +
		`^(?:it|test|describe)(?:\.\w+)*\(|^class \w*Test|^@test |^test_?\w*\s*\(\)|^@Test`)
	p.value = re(`"[^"]*"|'[^']*'|\x60[^\x60]*\x60|\b\d|\b(?:true|false|True|False)\b`)
	p.empty = re(`\b(?:None|null|nil|undefined|is_none|toBeNull|IsNil|Nil|isNull|assertIsNone|assertNull)\b`)
	p.asserts = re(`(?i)assert|expect|should|require\.|verify|\bt\.(?:is|equal|deepequal|same|ok)\b|\bequals?\b|` +
		`\beq\b|\bdiff\b|\bcmp\b|\bgrep\b|^(?:if )?\[\[? |^(?:if )?test |\bt\.(?:Error|Fatal|Fail)|panic!|\braise\b|` +
		`\bthrow\b|exit 1|return 1`)
	p.vague = re(`(?i)\bis not\b|not ?equal|_ne!|\.not\.|\bnot in\b|!==|defined|truthy|>=|<=|[^=-]>[^=]|[^<]<[^<=]|` +
		`isinstance|typeof|instance_?of|-n "|-gt|-ge|-ne|\bany\(`)
	p.unequal = re(`\bif\b.*(?:!=|!reflect\.DeepEqual|!slices\.Equal|!bytes\.Equal|!strings\.|!=)`)
	p.failure = re(`\berr\w* != nil`)
	p.row = re(`^(?:[\w."']+: *)?[\[({"'|\x60].*[\])},|"'\x60]$|^\d[\d.]*,|parametrize\(|\.each\(|` +
		`#\[(?:case|test_case)\b`)
	p.wanted = re(`(?i)^(?:\w+ )*["']?(?:want\w*|expect\w*|exp|golden)["']?\s*(?::?=|:)`)
	p.matches = re(`(?i)match|regex|assertRe`)
	p.long = re(`^(?:self\.)?assert[\w.]*!?\((?:matches!\()?$`)
	p.pattern = re(`\bmatches!\(.*\.\.(?:[ ),]|$)`) // of which some values do not count
	p.message = re(`^\w+\.(?:Error|Fatal|Log)f?\(`)
	p.throws = re(`(?i)\braises|throws|rejects|should_panic|is_err|\berr\w* == nil|ErrorIs|errors\.Is|unwrap_err|` +
		`\bErr\(|assert_raises|panics`)
	p.erring = re(`(?i)\berr|\brais|\bthrow|\bexception|\bpanic|\binvalid|\breject|\brefus|\bfail|\bunknown|` +
		`\bmissing|\bnegative|\bcrash`)
	p.muzzles = re(`^(?:return|continue|break)\b|^(?:sys\.|os\._?|process\.)?exit(?:\(0\)|\s*0?)$|` +
		`\|\| *(?:true|:|exit 0|return 0)|\bset \+e|\btry\b|\bexcept\b|\bcatch\b|` +
		`\brecover\(\)|\bsuppress\(|\.[Ss]kip\w*\(|\bif\b.*(?:\breturn|\bexit 0|\bcontinue)\b|^if let (?:Ok|Some)\(|` +
		`\b(?:retr\w+|attempts?)\b`)
	return p
})

// Weak is what asks for less in a test file.
type Weak struct {
	Text  string   // of the file, with these parts as they were
	Lines []string // what was lost, or what now stands before the assertions
}

// Find returns the parts of a test file that ask for less than before: an assertion of a value that has gone or is
// vague now, a row of a table that has gone, an early end, a swallowed failure. Nothing is weak when no line is.
func Find(before, after, task string) (w Weak) {
	all := Of(before, after)
	moved := map[string]bool{}
	for _, h := range all {
		old := h.ofOldTest()
		for _, line := range slices.Concat(values.Without(trimmed(old.Added), trimmed(h.Lost)),
			trimmed(h.Added[len(old.Added):])) {
			moved[line] = true
			if exact(line) {
				moved[shape(line)] = true
			}
		}
	}
	var weak []Hunk
	for _, h := range all {
		h = h.ofOldTest()
		if line := h.weakness(task, moved); line != "" {
			weak, w.Lines = append(weak, h), append(w.Lines, line)
		}
	}
	if len(weak) > 0 {
		w.Text = undone(after, weak)
	}
	return w
}

// ofOldTest is the hunk without the new tests that follow what changed in an old one.
func (h Hunk) ofOldTest() Hunk {
	p := patterns()
	starts := func(line string) bool { return p.start.MatchString(strings.TrimSpace(line)) }
	if i := slices.IndexFunc(h.Added, starts); i >= 0 && !slices.ContainsFunc(h.Lost, starts) {
		for i > 0 && strings.TrimSpace(h.Added[i-1]) == "" {
			i--
		}
		h.to -= len(h.Added) - i
		h.Added = h.Added[:i]
	}
	return h
}

// weakness is the line that shows that a hunk asks for less; empty: it does not.
func (h Hunk) weakness(task string, moved map[string]bool) string {
	p := patterns()
	lost, added := values.Without(trimmed(h.Lost), trimmed(h.Added)), values.Without(trimmed(h.Added), trimmed(h.Lost))
	lost = slices.DeleteFunc(lost, func(line string) bool { return moved[line] || moved[shape(line)] })
	erring := p.erring.MatchString(task)
	strong := func(line string) bool { return exact(line) || erring && p.throws.MatchString(line) }
	asserting := func(line string) bool { return p.asserts.MatchString(line) || erring && p.throws.MatchString(line) }
	if i := slices.IndexFunc(lost, exact); i >= 0 && !slices.ContainsFunc(added, strong) {
		return lost[i]
	}
	if i := slices.IndexFunc(lost, p.asserts.MatchString); i >= 0 && !slices.ContainsFunc(added, asserting) {
		return lost[i]
	}
	if i := slices.IndexFunc(added, p.muzzles.MatchString); i >= 0 &&
		!slices.ContainsFunc(lost, p.muzzles.MatchString) {
		return added[i]
	}
	return ""
}

// HasTests reports whether a test starts somewhere in a text.
func HasTests(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		return patterns().start.MatchString(strings.TrimSpace(line))
	})
}

// exact reports whether a line expects an exact value.
func exact(line string) bool {
	p := patterns()
	if p.failure.MatchString(line) || p.message.MatchString(line) {
		return false
	}
	value := p.value.MatchString(line)
	switch {
	case p.unequal.MatchString(line):
		return value || p.empty.MatchString(line)
	case p.wanted.MatchString(line), p.row.MatchString(line):
		return value
	}
	if p.matches.MatchString(line) {
		return !p.pattern.MatchString(line)
	}
	return p.asserts.MatchString(line) && !p.vague.MatchString(line) && (value || p.empty.MatchString(line))
}

// shape is a line without the last value in it, which is what it expects: with another one it still asks for a value.
func shape(line string) string {
	all := patterns().value.FindAllStringIndex(line, -1)
	if len(all) < 2 {
		return line
	}
	last := all[len(all)-1]
	return line[:last[0]] + "\x00" + strings.TrimLeft(line[last[1]:], "0123456789")
}

// trimmed are the lines without comments and blank ones. An assertion over many lines is one.
func trimmed(lines []string) (all []string) {
	open := 0
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || patterns().comment.MatchString(line):
			continue
		case open > 0:
			all[len(all)-1] += line
		default:
			all = append(all, line)
		}
		if open > 0 || patterns().long.MatchString(line) {
			open += strings.Count(line, "(") - strings.Count(line, ")")
		}
	}
	return all
}
