package stub

import (
	"regexp"
	"strings"
	"sync"
)

// body are the statements and comments of a function.
type body struct{ code, comments []string }

// longest is the number of lines of the longest body that can be a stub.
const longest = 12

// inline matches what follows a header on its line: after the colon in Python, else in
// braces or behind an arrow.
var inline = sync.OnceValue(func() (p struct{ python, other *regexp.Regexp }) {
	p.python = regexp.MustCompile(`\)\s*(?:->[^:]*)?:\s*(.*)$`)
	p.other = regexp.MustCompile(`(?:=>\s*([^{\s].*)|\{\s*(.*?)\s*\}?[;,]?)$`)
	return p
})

// bodyOf reads the function whose header is line i. It returns false if the function is
// longer than a stub, or has no body here.
func bodyOf(all []string, i int, header string) (b body, whole bool) {
	pattern := inline().other
	if strings.HasPrefix(header, "def ") || strings.HasPrefix(header, "async def ") {
		pattern = inline().python
	}
	if m := pattern.FindStringSubmatch(header); m != nil {
		if line := strings.TrimSpace(strings.Join(m[1:], "")); line != "" && !patterns().comment.MatchString(line) {
			b.add(line)
			return b, true
		}
	}
	first := i + 1
	for open := parens(header); open > 0 && first < len(all); first++ { // parameters on lines of their own
		open += parens(all[first])
	}
	quoted := false // in a docstring of several lines
	for n, raw := range all[first:] {
		line := strings.TrimSpace(raw)
		switch {
		case line == "":
			continue
		case quoted || strings.HasPrefix(line, `"""`):
			ends := strings.Count(line, `"""`)
			quoted = quoted != (ends%2 == 1)
			b.comments = append(b.comments, line)
			continue
		case indent(raw) <= indent(all[i]) || n > longest && len(b.code) > 1:
			return b, n <= longest
		}
		b.add(line)
	}
	return b, true
}

func parens(line string) int { return strings.Count(line, "(") - strings.Count(line, ")") }

func (b *body) add(line string) {
	p := patterns()
	if p.comment.MatchString(line) || len(b.code) == 0 && strings.HasPrefix(line, `"`) {
		b.comments = append(b.comments, line)
		return
	}
	b.code = append(b.code, line)
}

// unwritten reports whether the body is that of a stub. In Python, a lone pass is.
func (b body) unwritten(python bool) bool {
	p := patterns()
	if len(b.code) != 1 {
		return len(b.code) == 0 && p.later.MatchString(strings.Join(b.comments, "\n"))
	}
	line := b.code[0]
	if p.meant.MatchString(strings.Join(b.comments, "\n") + line) {
		return false
	}
	if at := p.later.FindStringIndex(line); at != nil && p.empty.MatchString(strings.TrimSpace(line[:at[0]])) {
		return true
	}
	if p.says.MatchString(line) {
		return true
	}
	if python && (line == "pass" || line == "...") {
		return true
	}
	if p.fixed.MatchString(line) && p.provisional.MatchString(strings.Join(b.comments, "\n")) {
		return true
	}
	return p.empty.MatchString(line) && p.later.MatchString(strings.Join(b.comments, "\n"))
}

func (b body) says() string {
	if len(b.code) > 0 {
		return b.code[0]
	}
	return b.comments[len(b.comments)-1]
}
