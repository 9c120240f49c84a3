package lang

import (
	"regexp"
	"strings"
	"sync"
)

const maxLine = 1000 // bytes; nobody wrote a longer one

var hollows = sync.OnceValue(func() (p struct{ passes, never, compare, equal, expected *regexp.Regexp }) {
	p.passes = regexp.MustCompile(`(?:\|\||\bor)\s*(?:true|True)\b|(?:[(,]|\bassert)\s*(?:true|True)\s*(?:\|\||or\b)`)
	p.never = regexp.MustCompile(`(?:&&|\band)\s*(?:false|False)\b|\bif\s*\(?\s*(?:false|False)\s*(?:&&|and\b)`)
	p.compare = regexp.MustCompile(`[!=]==?|\bis(?: not)?\b`)
	p.equal = regexp.MustCompile(`\bassert\w*[eE]q(?:ual\w*)?!?\s*\(|\.(?:\w*[eE]qual\w*|Same|is)\s*\(`)
	p.expected = regexp.MustCompile(`\bexpect\s*\(`)
	return p
})

// Hollow says whether a line that checks something cannot fail: a constant
// decides it, or both sides of the comparison are the same.
func (l *Language) Hollow(line Source) bool {
	if len(line.Code) > maxLine {
		return false
	}
	p := hollows()
	if !l.condition(line.Code) {
		return p.passes.MatchString(line.Code) || sameSides(line)
	}
	return p.never.MatchString(line.Code) || sameSides(line)
}

// HollowLines counts the lines that cannot fail.
func (l *Language) HollowLines(s Source) int {
	n := 0
	texts := strings.Split(s.Text, "\n")
	for i, code := range strings.Split(s.Code, "\n") {
		if line := (Source{texts[i], code}); strings.TrimSpace(code) != "" && (l.Hollow(line) || l.Empty.MatchString(line.Text) || l.DeadBranch.MatchString(code)) {
			n++
		}
	}
	return n
}

// condition says whether the line is the condition of a block, which fails the
// test perhaps.
func (l *Language) condition(code string) bool {
	return strings.Contains(code, "if") && parts().condition.MatchString(code)
}

// Dead counts what never runs or cannot fail: branches, swallowed failures and
// conditions.
func (l *Language) Dead(s Source) int {
	n := len(l.DeadBranch.FindAllString(s.Code, -1)) + l.Swallowed(s.Code)
	texts := strings.Split(s.Text, "\n")
	for i, code := range strings.Split(s.Code, "\n") {
		if l.condition(code) && l.Hollow(Source{texts[i], code}) {
			n++
		}
	}
	return n
}

// sameSides says whether a comparison in the line has the same on both sides.
func sameSides(line Source) bool {
	p := hollows()
	for _, m := range p.compare.FindAllStringIndex(line.Code, -1) {
		from, to := operand(line.Code, m[0]-1, -1)+1, operand(line.Code, m[1], 1)
		left, right := strings.TrimSpace(line.Text[from:max(from, m[0])]), strings.TrimSpace(line.Text[m[1]:max(to, m[1])])
		if left == right && left != "" {
			return true
		}
	}
	for _, m := range p.equal.FindAllStringIndex(line.Code, -1) {
		if args := arguments(line, m[1]); len(args) > 1 && (args[0] == args[1] || len(args) > 2 && args[0] == "t" && args[1] == args[2]) {
			return true
		}
	}
	for _, m := range p.expected.FindAllStringIndex(line.Code, -1) {
		end := Block(line.Code, m[1]-1, '(', ')')
		if open := strings.IndexByte(line.Code[end:], '('); open > 0 && hollows().equal.MatchString(strings.Replace(line.Code[end:end+open+1], ".toBe(", ".is(", 1)) {
			actual, wanted := arguments(line, m[1]), arguments(line, end+open+1)
			if len(actual) == 1 && len(wanted) == 1 && actual[0] == wanted[0] {
				return !strings.Contains(line.Code[end:end+open], "not")
			}
		}
	}
	return false
}

// operand is where the operand ends that goes on from at, in steps of 1 or -1.
func operand(code string, at, step int) int {
	opens, shuts := "([", ")]"
	if step < 0 {
		opens, shuts = shuts, opens
	}
	depth, i := 0, at
	for ; i >= 0 && i < len(code); i += step {
		c := code[i]
		switch {
		case strings.IndexByte(opens, c) >= 0:
			depth++
		case strings.IndexByte(shuts, c) >= 0:
			depth--
		}
		if depth < 0 || depth == 0 && (strings.IndexByte(",;{}:=&|<>?\n", c) >= 0 || c == ' ' && separated(code, i, step)) {
			break
		}
	}
	return i
}

// separated says whether a word that joins conditions or begins one is next to
// the space at i.
func separated(code string, i, step int) bool {
	for _, word := range []string{" and ", " or ", "assert ", "if ", "not "} {
		if step > 0 && strings.HasPrefix(code[i:], word) || step < 0 && strings.HasSuffix(code[:i+1], word) {
			return true
		}
	}
	return false
}

// arguments are those of the call whose bracket opens before from.
func arguments(s Source, from int) []string {
	var all []string
	end := Block(s.Code, from-1, '(', ')') - 1
	depth, at := 0, from
	for i := from; i < end; i++ {
		switch s.Code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				all, at = append(all, strings.TrimSpace(s.Text[at:i])), i+1
			}
		}
	}
	return append(all, strings.TrimSpace(s.Text[min(at, max(end, at)):max(end, at)]))
}
