package lang

import "strings"

// Test is one test as it stands in a file.
type Test struct {
	Name       string
	Head, Body Source // decorators with the line of the test; all behind it
	Start, End int
}

// Skip says how a test is kept from running.
type Skip int

// The skips, the worst last.
const (
	Runs     Skip = iota
	Platform      // skipped on some machines only
	Asked         // skipped under another condition
	Skipped       // never runs
)

// Tests cuts the tests out of a file.
func (l *Language) Tests(src Source) []Test {
	var found []Test
	all := l.Test.FindAllStringSubmatchIndex(src.Code, -1)
	for i, m := range all {
		if src.Code[m[0]] == '\n' {
			m[0]++ // the end of the line above
		}
		above := 0 // the end of the test above
		if len(found) > 0 {
			above = found[len(found)-1].End
		}
		if m[0] < above {
			continue // nested in a test: part of it
		}
		p := Test{Start: max(headStart(l, src, m[0]), above), End: bodyEnd(l, src.Code, m)}
		if p.End == len(src.Code) && i+1 < len(all) && l.Extent != Offside {
			p.End = all[i+1][0] // a bracket was misread, and nothing closes it
		}
		p.Name = testName(src, m, p.End)
		head := m[1]
		if l.Extent == Parens {
			head = m[0]
		}
		p.Head, p.Body = src.Cut(p.Start, head), src.Cut(head, p.End)
		found = append(found, p)
	}
	return found
}

func testName(src Source, m []int, end int) string {
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return src.Text[m[g]:m[g+1]]
		}
	}
	for _, t := range Tokens(src.Cut(m[1], end)) {
		if t.Kind == String {
			return t.Text
		}
	}
	return strings.TrimSpace(src.Text[m[0]:m[1]])
}

// headStart is the start of the decorators above the line at pos; each may go
// over several lines, up to its closing bracket.
func headStart(l *Language, src Source, pos int) int {
	start := strings.LastIndexByte(src.Code[:pos], '\n') + 1
	open := 0
	for at := start; at > 0; {
		above := strings.LastIndexByte(src.Code[:at-1], '\n') + 1
		line := src.Code[above : at-1]
		open += strings.Count(line, ")") + strings.Count(line, "]") - strings.Count(line, "(") - strings.Count(line, "[")
		switch {
		case l.Heads.MatchString(line):
			start, open = above, 0
		case open <= 0 || strings.TrimSpace(line) == "":
			return start
		}
		at = above
	}
	return start
}

func bodyEnd(l *Language, code string, m []int) int {
	switch l.Extent {
	case Offside:
		return IndentBlock(code, m[1]-1)
	case Parens:
		at := m[1] - 1
		if code[at] == '`' {
			if i := strings.IndexByte(code[at+1:], '`'); i >= 0 {
				at += i + 2
			}
		}
		end := Block(code, at, '(', ')')
		if rest := strings.TrimLeft(code[end:], " \t\n"); strings.HasPrefix(rest, "(") {
			end = Block(code, end, '(', ')')
		}
		return end
	}
	return Block(code, m[1], '{', '}')
}

// SkipOf is the worst of the skips of a test.
func (l *Language) SkipOf(s Source) Skip {
	found := l.Skips(s)
	for _, k := range []Skip{Skipped, Asked, Platform} {
		if found[k] > 0 {
			return k
		}
	}
	return Runs
}

// Skips counts the skips of each kind.
func (l *Language) Skips(s Source) map[Skip]int {
	found := map[Skip]int{}
	for _, m := range l.Skip.FindAllStringIndex(s.Code, -1) {
		condition := conditionOf(s, m[0])
		switch {
		case l.Platform.MatchString(condition + lineAt(s.Text, m[0])):
			found[Platform]++
		case l.SoftSkip.MatchString(s.Code[m[0]:m[1]]) || condition != "" && !l.DeadBranch.MatchString(condition):
			found[Asked]++
		default:
			found[Skipped]++
		}
	}
	return found
}

func lineAt(s string, pos int) string {
	start := strings.LastIndexByte(s[:pos], '\n') + 1
	line, _, _ := strings.Cut(s[start:], "\n")
	return line
}

const maxBlock = 1000 // lines; nobody wrote a longer one

// conditionOf is the line of the if around pos, or the line before && or ||;
// empty when there is none.
func conditionOf(s Source, pos int) string {
	start := strings.LastIndexByte(s.Code[:pos], '\n') + 1
	before := s.Text[start:pos]
	if strings.Contains(before, "&&") || strings.Contains(before, "||") || strings.HasPrefix(strings.TrimSpace(before), "if") {
		return before
	}
	depth := Indent(s.Code[start:])
	for n := 0; start > 0 && n < maxBlock; n++ {
		end := start - 1
		start = strings.LastIndexByte(s.Text[:end], '\n') + 1
		line := s.Text[start:end]
		if strings.TrimSpace(line) == "" || Indent(line) >= depth {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "if") {
			return line
		}
		return ""
	}
	return ""
}
