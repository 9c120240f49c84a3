package lang

import (
	"regexp"
	"strings"
	"sync"
)

// shapes are the patterns that hold for all languages.
var shapes = sync.OnceValue(func() (p struct{ row, values, leave, guard, rethrow *regexp.Regexp }) {
	p.row = regexp.MustCompile(`^\s*(?:(?:"\w*\x01*"|'\w*\x01*'|\w+)\s*:\s*)?[\[{(].*[\]})],?\s*$|^\s*#\[(?:case|test_case)|\bpytest\.param\(|\bt\.Run\("|\.subTest\(`)
	p.values = regexp.MustCompile(`\bparametrize\(|@(?:Value|Csv|Enum)Source|\.each\(|#\[values|^\s*for\b.*\bin\b`)
	p.leave = regexp.MustCompile(`^return(?: 0| Ok\(\(\)\)| None| undefined)?;?$`)
	p.guard = regexp.MustCompile(`^if\b.*[:) ]\s*(?:\{ )?return(?: None)?;?(?: \})?$`)
	p.rethrow = regexp.MustCompile(`\b(?:throw|raise|reject|fail\w*|panic|unreachable)\b`)
	return p
})

// exact finds a comparison with one value.
var exact = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[!=]==? *(?:-?\d|["'\x60\[({]|\w+\{|Some|Ok)|\.(?:toBe|to(?:Strict)?Equal|deepEqual|(?:deep\.|strict)?[eE]qual\w*)\(|\bassert_eq!|\bassertEqual|\bassert\w*\.(?:Equal|deepEqual|JSONEq)\w*\(|DeepEqual\(`)
})

// loose finds a comparison that many values pass.
var loose = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[<>]=? *-?\d|["'\x60] (?:not )?in \b|\b(?:Contains|HasPrefix|HasSuffix|starts_?[wW]ith|ends_?[wW]ith|includes?|contains?|toContain\w*|toMatch|assertIn|isinstance|toBe(?:Greater|Less)\w*|Greater\w*|Less\w*)\(`)
})

// Exact says whether the source compares with one value.
func Exact(s Source) bool { return exact().MatchString(s.Code) }

// Loosened says whether a comparison with one value became one that many pass.
func Loosened(was, is Source) bool {
	count := func(re *regexp.Regexp, s Source) int { return len(re.FindAllString(s.Code, -1)) }
	return count(exact(), was) > count(exact(), is) && count(loose(), was) < count(loose(), is)
}

// Strength is how much the assertions of a test check: two for each, one for
// those that nearly anything passes.
func (l *Language) Strength(s Source) int {
	n := 2*len(l.Assertion.FindAllString(s.Code, -1)) - len(l.Weak.FindAllString(s.Code, -1))
	for _, m := range l.Empty.FindAllStringSubmatch(s.Text, -1) {
		if len(m) == 1 || m[1] == m[2] {
			n -= 2
		}
	}
	return max(n, 0)
}

// Rows are the lines that look like rows of a table; a table on one line counts
// by its brackets, or its values.
func (l *Language) Rows(s Source) []string {
	var rows []string
	text := strings.Split(s.Text, "\n")
	for i, line := range strings.Split(s.Code, "\n") {
		for range l.rowsOf(text[i], line) {
			rows = append(rows, text[i])
		}
	}
	return rows
}

func (l *Language) rowsOf(text, line string) int {
	inner := strings.Count(line, "), (") + strings.Count(line, "], [") + strings.Count(line, "}, {")
	switch {
	case shapes().values.MatchString(line):
		switch {
		case inner > 0:
			return inner + 1
		case l.Wordy:
			_, list, _ := strings.Cut(text, " in ")
			list, _, _ = strings.Cut(list, ";")
			return len(strings.Fields(list))
		}
		return len(Literals(Source{Text: text, Code: line}))
	case strings.Count(text, "${") > 1 && strings.Contains(text, "|"):
		return 1 // of a tagged table
	case inner > 0 && !l.Assertion.MatchString(line):
		return inner + 1
	case inner == 0 && shapes().row.MatchString(line) && !l.Assertion.MatchString(line):
		return 1
	}
	return 0
}

// Alive is the length of the part of a test's code that can run: a bare return
// on the outer level ends it. Exits counts the conditions on that level which
// do nothing but return; those about the platform do not count.
func (l *Language) Alive(s Source) (alive, exits int) {
	base, at, guard, head := -1, 0, "", true
	text := s.Text
	for line := range strings.SplitAfterSeq(s.Code, "\n") {
		now := text[at : at+len(line)]
		trimmed := strings.TrimSpace(line)
		at += len(line)
		switch {
		case trimmed == "":
			continue
		case head:
			head = false
			continue
		case base < 0:
			base = Indent(line)
		}
		if shapes().leave.MatchString(trimmed) || l.Wordy && trimmed == "exit 0" {
			if Indent(line) == base {
				return at - len(line), exits
			}
			if guard != "" && Indent(line) > base && !l.Platform.MatchString(guard) {
				exits++
			}
		}
		guard = ""
		switch {
		case Indent(line) != base || !strings.HasPrefix(trimmed, "if"):
		case shapes().guard.MatchString(trimmed) && !l.Platform.MatchString(now):
			exits++
		default:
			guard = now
		}
	}
	return len(s.Code), exits
}

// Swallowed counts the blocks that catch the failure of an assertion and let the
// test go on.
func (l *Language) Swallowed(code string) int {
	n := 0
	for _, m := range l.Try.FindAllStringIndex(code, -1) {
		tried := l.block(code, m[1]-1)
		caught := l.Catch.FindStringIndex(code[tried:])
		if caught == nil || strings.TrimSpace(code[tried:tried+caught[0]]) != "" || !l.Assertion.MatchString(code[m[1]:tried]) {
			continue
		}
		from := tried + caught[1]
		answer := code[from:l.block(code, from-1)]
		if !l.Assertion.MatchString(answer) && !shapes().rethrow.MatchString(answer) {
			n++
		}
	}
	return n
}

// block is the end of the block whose header ends at from.
func (l *Language) block(code string, from int) int {
	if l.Extent == Offside {
		return deeper(code, from, from)
	}
	return Block(code, from, '{', '}')
}
