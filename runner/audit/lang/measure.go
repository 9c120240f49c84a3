package lang

import (
	"regexp"
	"slices"
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
func (l *Language) Loosened(was, is Source) bool {
	count := func(re *regexp.Regexp, s Source) int { return len(re.FindAllString(s.Code, -1)) }
	if count(exact(), was) > count(exact(), is) && count(loose(), was) < count(loose(), is) {
		return true
	}
	lost, added := l.comparisons(was), l.comparisons(is)
	if len(lost)*len(added) > maxPairs {
		return false
	}
	held := 0
	for key, c := range lost {
		if _, ok := added[key]; !ok && c.exact {
			held++
		}
	}
	for key, c := range added {
		if _, ok := lost[key]; !ok && c.exact {
			held--
		}
	}
	for key, a := range added {
		if _, ok := lost[key]; ok || a.exact || held <= 0 {
			continue
		}
		for key, b := range lost {
			if _, ok := added[key]; !ok && b.exact && len(a.subject) > 0 && a.subject.Share(b.subject) == 1 {
				return true
			}
		}
	}
	return false
}

// Excludes says whether a line only demands that a value is not met.
func (l *Language) Excludes(s Source) bool {
	for text, c := range l.comparisons(s) {
		guard := l.condition(text)
		if !c.exact && (guard && strings.Contains(text, "==") || !guard && grip().excludes.MatchString(text)) {
			return true
		}
	}
	return false
}

// comparison is one line that checks something.
type comparison struct {
	exact   bool // with one value, which is not empty and no boolean
	subject Bag  // the names of what is compared
}

// comparisons are the lines that check something.
func (l *Language) comparisons(s Source) map[string]comparison {
	all := map[string]comparison{}
	texts := strings.Split(s.Text, "\n")
	for i, code := range strings.Split(s.Code, "\n") {
		guard := l.condition(code)
		if len(code) > maxLine || !guard && !l.Assertion.MatchString(code) || !guard && l.Message.MatchString(code) {
			continue
		}
		line := Source{texts[i], code}
		c := comparison{subject: BagOf(line, Word, Call)}
		for name := range c.subject {
			if grip().words.MatchString(name) || name == "t" {
				delete(c.subject, name)
			}
		}
		c.exact = exactly(line, guard)
		all[strings.TrimSpace(line.Text)] = c
	}
	return all
}

// exactly says whether the line demands one value. What a guard lets pass is
// what it does not name.
func exactly(line Source, guard bool) bool {
	p := grip()
	for _, m := range p.operator.FindAllStringIndex(line.Code, -1) {
		if guard != (line.Code[m[0]] == '!') {
			continue
		}
		from, to := operand(line.Code, m[0]-1, -1)+1, operand(line.Code, m[1], 1)
		left, right := strings.TrimSpace(line.Text[from:max(from, m[0])]), strings.TrimSpace(line.Text[m[1]:max(to, m[1])])
		if !p.empty.MatchString(left) && !p.empty.MatchString(right) {
			return true
		}
	}
	m := p.call.FindStringIndex(line.Code)
	if m == nil || strings.Contains(line.Code, ".not.") || guard != (strings.Contains(line.Code, "!") || strings.Contains(line.Code, "Diff(")) && !strings.Contains(line.Code, "assert_eq!") {
		return false
	}
	return !slices.ContainsFunc(arguments(line, m[1]), p.empty.MatchString)
}

var grip = sync.OnceValue(func() (p struct{ operator, call, excludes, empty, words *regexp.Regexp }) {
	p.operator = regexp.MustCompile(`[!=]==?`)
	p.call = regexp.MustCompile(`\.(?:toBe|to(?:Strict)?Equal|deepEqual|(?:deep\.|deepStrict|strict)?[eE]qual\w*|Same|is)\(|\bassert_eq!\(|\bassertEqual\w*\(|(?:DeepEqual|Diff|JSONEq)\(`)
	p.excludes = regexp.MustCompile(`!==?|\.not\.|\b\w*[nN]ot_?[eE]qual|\bassert_ne!`)
	p.empty = regexp.MustCompile(`^(?:True|False|true|false|None|nil|null|undefined|0|""|''|\[\]|\{\}|\(\))$`)
	p.words = regexp.MustCompile(`^(?:if|assert\w*|expect|not|is|in|to|be|deep|to[A-Z]\w*|\w*[eE]qual\w*|self|require|ok|len|true|True|false|False|fail|strict|and|or|await|Some|Ok)$`)
	return p
})

// Strength is how much the assertions of a test check: two for each, one for
// those that nearly anything passes.
func (l *Language) Strength(s Source) int {
	n := -len(l.Weak.FindAllString(s.Code, -1)) - 2*len(l.Empty.FindAllString(s.Text, -1))
	texts := strings.Split(s.Text, "\n")
	for i, code := range strings.Split(s.Code, "\n") {
		found := len(l.Assertion.FindAllString(code, -1))
		n += 2 * found
		if found > 0 && !l.Empty.MatchString(texts[i]) && !l.condition(code) && l.Hollow(Source{texts[i], code}) {
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

const (
	maxTries = 1000    // in one test; nobody wrote more
	maxPairs = 1 << 22 // what would be compared more often is not judged
)

// Swallowed counts the blocks that catch the failure of an assertion and let the
// test go on.
func (l *Language) Swallowed(code string) int {
	n := 0
	all := l.Try.FindAllStringIndex(code, -1)
	if len(all) > maxTries {
		return 0
	}
	for _, m := range all {
		end := l.block(code, m[1]-1)
		if !l.Assertion.MatchString(code[m[1]:end]) {
			continue
		}
		for caught := l.Catch.FindStringIndex(code[end:]); caught != nil; caught = l.Catch.FindStringIndex(code[end:]) {
			header, from := code[end:end+caught[1]], end+caught[1]
			end = l.block(code, from-1)
			if !l.CatchAll.MatchString(header) {
				continue // another answer may follow
			}
			if answer := code[from:end]; !l.Assertion.MatchString(answer) && !shapes().rethrow.MatchString(answer) {
				n++
			}
			break
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
