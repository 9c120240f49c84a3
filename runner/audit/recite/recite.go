// Package recite finds code that lists the expected results of its tests instead of computing
// them.
package recite

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit/values"
)

const (
	nearby   = 4   // lines between two pairs of one list
	minPairs = 2   // pairs that make a list
	share    = 0.8 // of a list that must be in the tests
)

var patterns = sync.OnceValue(func() (p struct {
	literal, when, alone, gives, pair, open, odd, usual, plain, lists *regexp.Regexp
}) {
	re := regexp.MustCompile
	const literal = `("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\x60[^\x60]*\x60|-?\b\d[\d_]*(?:\.\d+)?\b)`
	p.literal = re(literal)
	p.when = re(`^(?:\}? ?else )?(?:el)?(?:if|case|when)\b` +
		`(.*(?:==|===|\bin\b|-eq| = |^.*case\b|\.equals\(|\.includes\().*)$|` +
		`^(?:return )?(.*(?:==|===) *.*)\?.*$`)
	p.alone = re(`^case\b(.*?):|^` + literal + `\)`)
	p.gives = re(`(?:\breturn\b|\becho\b|\bprintf\b|\bputs\b|=> *|\? *|\bthen\b|[^=!<>]= |: *|\) *)\s*(?:\w+\()?` +
		`("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d[\d_]*(?:\.\d+)?|true|false|True|False|None|null|nil)`)
	p.pair = re(literal + `\s*(?::|=>|,)\s*` + literal)
	p.open = re(`(?:[{:]|\bthen|\))$`)
	p.odd = re(`^["'\x60].*[^A-Za-z_"'\x60-].*["'\x60]$|^-?\d{2,}|\.\d|^["'\x60][IVXLCDM]{2,}["'\x60]$`)
	p.usual = re(`^(?:10|12|16|24|32|60|64|100|127|128|200|201|204|255|256|360|365|366|400|401|403|404|409|422|` +
		`429|500|502|503|1000|1024|3600|4096|65535|65536)$`)
	p.plain = re(`^(?:["'\x60]["'\x60]|-?[01]|["'\x60].["'\x60])$`)
	p.lists = re(`(?i)\btables?\b|\bmap(?:s|ping)?\b|\blook ?up|\btranslat|\bnames? of\b|\blabels?\b|\bconstants?\b|` +
		`\bcodes?\b|\benum|\bunits?\b|\bcurrenc|\bcountr|\bmonths?\b|\bweekdays?\b|` +
		`\bstatus|\balias|\bextensions?\b|\bmime\b|\bcolou?rs?\b|\bkeywords?\b|\bsymbols?\b|\bconfig|\bsettings?\b|` +
		`\bdefaults?\b|\bfixtures?\b|\bsamples?\b|\bexamples?\b|\bseed`)
	return p
})

// pair is an input and its result, as the code has them.
type pair struct {
	line   int
	text   string
	keys   []string
	result string
	asks   bool // whether the input is a certain one
}

// Find returns the lines of code, added by a change, that have the inputs and the results of tests; empty: none. known
// is what else says these values: the task, and the code before.
func Find(before, after string, tests []string, known string) []string {
	var list, found []string
	last, all := -1, 0
	settle := func() {
		if len(list) >= minPairs && float64(len(list)) >= share*float64(all) && !patterns().lists.MatchString(known) {
			found = append(found, list...)
		}
		list, all = nil, 0
	}
	rows := rowsOf(tests)
	for _, p := range pairsOf(before, after) {
		if says(known, p) ||
			!slices.ContainsFunc(p.keys, func(k string) bool { return !patterns().plain.MatchString(k) }) {
			continue
		}
		if last >= 0 && p.line-last > nearby {
			settle()
		}
		last = p.line
		all++
		if !p.within(rows) || !p.isOdd() { // "de" and "fr" may be all there is
			continue
		}
		list = append(list, p.text)
		if p.asks {
			found = append(found, p.text)
		}
	}
	settle()
	slices.Sort(found)
	return slices.Compact(found)
}

// says reports whether a text has one of the values of a pair.
func says(known string, p pair) bool {
	for _, v := range append(slices.Clone(p.keys), p.result) {
		if bare := strings.Trim(v, "\"'`"); len(bare) > 1 && strings.Contains(known, bare) && !word(bare) {
			return true
		}
	}
	return false
}

func word(v string) bool {
	return slices.Contains([]string{"true", "false", "True", "False", "None", "null", "nil"}, v)
}

// isOdd reports whether no general code would ask for such an input.
func (p pair) isOdd() bool {
	odd := func(k string) bool {
		return patterns().odd.MatchString(k) && !patterns().usual.MatchString(k) && len(k) > 1
	}
	return slices.ContainsFunc(p.keys, odd) ||
		len(p.keys) > 1 && !slices.ContainsFunc(p.keys, patterns().plain.MatchString)
}

// within reports whether a row of the tests has the input and the result.
func (p pair) within(rows [][]string) bool {
	return slices.ContainsFunc(rows, func(row []string) bool {
		has := func(v string) bool {
			return slices.ContainsFunc(row, func(o string) bool {
				return strings.Trim(o, "\"'`") == strings.Trim(v, "\"'`")
			})
		}
		for _, k := range p.keys {
			if !has(k) {
				return false
			}
		}
		return word(p.result) || has(p.result)
	})
}

// rowsOf are the values in each line of the tests, and in each two.
func rowsOf(tests []string) (rows [][]string) {
	for _, text := range tests {
		var last []string
		for line := range strings.Lines(text) {
			now := literals(line)
			if len(now) > 0 {
				rows = append(rows, now, slices.Concat(last, now))
			}
			last = now
		}
	}
	return rows
}

func literals(text string) (all []string) {
	for _, v := range patterns().literal.FindAllString(text, -1) {
		all = append(all, strings.ReplaceAll(v, "_", ""))
	}
	return all
}

// pairsOf are the pairs in the lines that a change adds.
func pairsOf(before, after string) (all []pair) {
	fresh := map[string]int{}
	for _, line := range values.Without(strings.Split(after, "\n"), strings.Split(before, "\n")) {
		fresh[line]++
	}
	lines := strings.Split(after, "\n")
	for i, raw := range lines {
		if fresh[raw] == 0 {
			continue
		}
		line := strings.TrimSpace(raw)
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		all = append(all, pairsIn(i, line, next)...)
	}
	return all
}

func pairsIn(n int, line, next string) (all []pair) {
	p := patterns()
	keys, rest := condition(line)
	if len(keys) > 0 {
		if g := p.gives.FindStringSubmatch(rest); g != nil {
			return []pair{{n, line, keys, g[1], true}}
		}
		if g := p.gives.FindStringSubmatch(next); g != nil && p.open.MatchString(line) {
			return []pair{{n, line + " " + next, keys, g[1], true}}
		}
		return nil
	}
	for _, m := range p.pair.FindAllStringSubmatch(line, -1) {
		all = append(all, pair{n, line, literals(m[1]), strings.ReplaceAll(m[2], "_", ""), false})
	}
	return all
}

// condition returns the values that a line compares with, and what follows the condition.
func condition(line string) (keys []string, rest string) {
	p := patterns()
	if m := p.alone.FindStringSubmatchIndex(line); m != nil {
		return literals(line[:m[1]]), line[m[1]-1:]
	}
	m := p.when.FindStringSubmatch(line)
	if m == nil {
		return nil, ""
	}
	cond := m[1] + m[2]
	for _, end := range []string{") return", "): return", ": return", " { return", ") {", "; then", "?", " {", ":"} {
		if head, tail, ok := strings.Cut(cond, end); ok && len(literals(head)) > 0 {
			return literals(head), end + tail
		}
	}
	return literals(cond), ""
}
