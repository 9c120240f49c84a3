package audit

import "strings"

// filler stands for each byte inside a string literal in a masked text.
const filler = '\x01'

// source is a file's text in two forms of equal length. In text, comments are
// blank; in code, the insides of strings are filler as well. Newlines stay.
type source struct {
	text, code string
}

// mask blanks comments and string literals by the rules of the language. It is
// a scanner, not a parser: a quote that is not closed ends with its line.
func mask(l *language, raw string) source {
	m := masker{l: l, raw: raw, text: []byte(raw), code: []byte(raw)}
	for m.at < len(raw) {
		m.step()
	}
	return source{string(m.text), string(m.code)}
}

type masker struct {
	l          *language
	raw        string
	at         int
	text, code []byte
	last       byte // last byte of code that is no space
}

func (m *masker) step() {
	rest := m.raw[m.at:]
	for _, c := range m.l.lineComments {
		if strings.HasPrefix(rest, c) && m.commentMayStart(c) {
			end := strings.IndexByte(rest, '\n')
			m.blank(end, len(rest))
			return
		}
	}
	for _, c := range m.l.blockComments {
		if strings.HasPrefix(rest, c[0]) {
			end := strings.Index(rest[len(c[0]):], c[1])
			if end >= 0 {
				end += len(c[0]) + len(c[1])
			}
			m.blank(end, len(rest))
			return
		}
	}
	for _, q := range m.l.quotes {
		if strings.HasPrefix(rest, q.open) {
			m.quote(q, rest)
			return
		}
	}
	if m.l.slashRegexps && rest[0] == '/' && strings.IndexByte("(,=:[!&|?{};", m.last) >= 0 {
		m.quote(quote{"/", "/", true, false}, rest)
		return
	}
	if rest[0] > ' ' {
		m.last = rest[0]
	}
	m.at++
}

// commentMayStart keeps the # in $# and in words of a shell.
func (m *masker) commentMayStart(c string) bool {
	return c != "#" || m.at == 0 || strings.IndexByte(" \t\n;(,)]}", m.raw[m.at-1]) >= 0 || !m.l.hashNeedsSpace
}

// blank makes n bytes spaces, or all that is left when n is negative.
func (m *masker) blank(n, left int) {
	if n < 0 {
		n = left
	}
	for i := m.at; i < m.at+n; i++ {
		if m.raw[i] != '\n' {
			m.text[i], m.code[i] = ' ', ' '
		}
	}
	m.at += n
}

func (m *masker) quote(q quote, rest string) {
	i := len(q.open)
	for i < len(rest) && !strings.HasPrefix(rest[i:], q.close) {
		if rest[i] == '\n' && !q.lines {
			break
		}
		if rest[i] == '\\' && q.escapes && i+1 < len(rest) && rest[i+1] != '\n' {
			i++
		}
		i++
	}
	i = min(i, len(rest))
	for j := len(q.open); j < i; j++ {
		if rest[j] != '\n' {
			m.code[m.at+j] = filler
		}
	}
	if strings.HasPrefix(rest[i:], q.close) {
		i += len(q.close)
	}
	m.last = q.open[0]
	m.at += i
}

// block returns the end of the bracketed part that starts at or after from, in
// masked code: behind the bracket that closes the first open. The end of the
// code when nothing closes it, from when nothing opens.
func block(code string, from int, open, shut byte) int {
	start := strings.IndexByte(code[from:], open)
	if start < 0 {
		return from
	}
	depth := 0
	for i := from + start; i < len(code); i++ {
		switch code[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(code)
}

// indentBlock returns the end of the lines that follow the one at from and are
// indented deeper than it.
func indentBlock(code string, from int) int {
	start := strings.LastIndexByte(code[:from], '\n') + 1
	base := indent(code[start:])
	// The header may go on over several lines, up to its colon.
	at := block(code, from, '(', ')')
	for {
		next := strings.IndexByte(code[at:], '\n')
		if next < 0 {
			return len(code)
		}
		at += next + 1
		line, _, _ := strings.Cut(code[at:], "\n")
		if strings.TrimSpace(line) != "" && indent(line) <= base && line[indent(line)] != filler {
			return at
		}
	}
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
