package lang

import "strings"

// filler stands for each byte inside a string literal in a masked text.
const filler = '\x01'

// Source is a file's text in two forms of equal length. In Text, comments are
// blank; in Code, the insides of strings are filler as well. Newlines stay.
type Source struct {
	Text, Code string
}

// Cut is a part of the source.
func (s Source) Cut(from, to int) Source {
	return Source{s.Text[from:max(from, to)], s.Code[from:max(from, to)]}
}

// Add is both sources, one behind the other.
func (s Source) Add(t Source) Source { return Source{s.Text + t.Text, s.Code + t.Code} }

// Filter keeps some of the lines.
func (s Source) Filter(keep func(text, code string) bool) Source {
	var text, code []string
	texts := strings.Split(s.Text, "\n")
	for i, line := range strings.Split(s.Code, "\n") {
		if keep(texts[i], line) {
			text, code = append(text, texts[i]), append(code, line)
		}
	}
	return Source{strings.Join(text, "\n"), strings.Join(code, "\n")}
}

// Mask blanks comments and string literals by the rules of the language. It is
// a scanner, not a parser: a quote that is not closed ends with its line.
func Mask(l *Language, raw string) Source {
	m := masker{l: l, raw: raw, text: []byte(raw), code: []byte(raw)}
	special := l.special()
	for m.at < len(raw) {
		if c := raw[m.at]; special[c] {
			m.step()
		} else {
			if c > ' ' {
				m.last = c
			}
			m.at++
		}
	}
	return Source{string(m.text), string(m.code)}
}

// special are the bytes that may begin a comment or a string.
func (l *Language) special() (all [256]bool) {
	for _, c := range l.LineComments {
		all[c[0]] = true
	}
	for _, c := range l.BlockComments {
		all[c[0][0]] = true
	}
	for _, q := range l.Quotes {
		all[q.open[0]] = true
	}
	all['/'] = all['/'] || l.SlashRegexps
	return all
}

type masker struct {
	l          *Language
	raw        string
	at         int
	text, code []byte
	last       byte // last byte of code that is no space
}

func (m *masker) step() {
	rest := m.raw[m.at:]
	for _, c := range m.l.LineComments {
		if strings.HasPrefix(rest, c) && m.commentMayStart(c) {
			end := strings.IndexByte(rest, '\n')
			m.blank(end, len(rest))
			return
		}
	}
	for _, c := range m.l.BlockComments {
		if strings.HasPrefix(rest, c[0]) {
			end := strings.Index(rest[len(c[0]):], c[1])
			if end >= 0 {
				end += len(c[0]) + len(c[1])
			}
			m.blank(end, len(rest))
			return
		}
	}
	for _, q := range m.l.Quotes {
		if strings.HasPrefix(rest, q.open) {
			m.quote(q, rest)
			return
		}
	}
	if m.l.SlashRegexps && rest[0] == '/' && strings.IndexByte("(,=:[!&|?{};", m.last) >= 0 {
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
	return c != "#" || m.at == 0 || strings.IndexByte(" \t\n;(,)]}", m.raw[m.at-1]) >= 0 || !m.l.HashNeedsSpace
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

// Block returns the end of the bracketed part that starts at or after from, in
// masked code: behind the bracket that closes the first open. The end of the
// code when nothing closes it, from when nothing opens.
func Block(code string, from int, open, shut byte) int {
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

// IndentBlock returns the end of the lines that follow the one at from and are
// indented deeper than it.
func IndentBlock(code string, from int) int {
	// The header may go on over several lines, up to its colon.
	return deeper(code, from, Block(code, from, '(', ')'))
}

// deeper returns the end of the lines behind at that are indented deeper than
// the one at from.
func deeper(code string, from, at int) int {
	base := Indent(code[strings.LastIndexByte(code[:from], '\n')+1:])
	for {
		next := strings.IndexByte(code[at:], '\n')
		if next < 0 {
			return len(code)
		}
		at += next + 1
		line, _, _ := strings.Cut(code[at:], "\n")
		if strings.TrimSpace(line) != "" && Indent(line) <= base && line[Indent(line)] != filler {
			return at
		}
	}
}

// Indent counts the blanks in front of a line.
func Indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
