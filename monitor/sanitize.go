package monitor

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxString bounds the payload of a terminal string sequence (OSC, DCS, ...).
// One that does not end within it is shown as text rather than swallowed.
const maxString = 4096

// clean makes text of unknown origin inert: the result holds only printable
// characters and newlines, and no character that moves, hides, reorders or
// joins others. Escape sequences are dropped, lone control characters become
// their pictures, tabs become spaces, a lone carriage return a new line.
func clean(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	marks := 0 // combining marks on the current character
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteRune(utf8.RuneError)
			s = s[1:]
			continue
		}
		if skip := escape(s, r, n); skip > 0 {
			s = s[skip:]
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) && !invisible(r) {
			if marks++; marks <= 2 && b.Len() > 0 {
				b.WriteRune(r)
			}
		} else {
			marks = 0
			b.WriteString(inert(r, s[n:]))
		}
		s = s[n:]
	}
	return b.String()
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' {
			return false
		}
	}
	return true
}

// escape returns the length of the escape sequence at the start of s, 0 when
// there is none; r and n are the first rune and its length.
func escape(s string, r rune, n int) int {
	kind := byte(0)
	switch {
	case r == 0x1b && len(s) > 1:
		kind = s[1]
		n = 2
	case r >= 0x80 && r <= 0x9f: // the one-character forms of ESC @ to ESC _
		kind = byte(r - 0x40)
	default:
		return 0
	}
	rest := s[n:]
	switch {
	case kind == '[':
		return n + controlSequence(rest)
	case strings.IndexByte("]PX^_", kind) >= 0:
		return n + controlString(rest)
	case kind == 0x1b || kind == '\n' || kind >= utf8.RuneSelf:
		return n - 1 // the escape alone; the next character counts for itself
	case kind >= ' ' && kind <= '/':
		i := 0
		for i < len(rest) && rest[i] >= ' ' && rest[i] <= '/' {
			i++
		}
		if i < len(rest) && rest[i] >= '0' && rest[i] <= '~' {
			i++
		}
		return n + i
	}
	return n
}

func controlSequence(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < ' ' || c > 0x7e:
			return i
		}
	}
	return len(s)
}

// controlString returns the length of the payload and its end, or 0 when the
// string never ends on this line.
func controlString(s string) int {
	for i := 0; i < len(s) && i < maxString; i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		case s[i] == '\n':
			return 0
		}
	}
	return 0
}

// inert returns what is shown for one rune outside of escape sequences.
func inert(r rune, next string) string {
	switch {
	case r == '\n', r == 0x2028, r == 0x2029:
		return "\n"
	case r == '\r':
		if strings.HasPrefix(next, "\n") || next == "" {
			return ""
		}
		return "\n"
	case r == '\t':
		return "    "
	case r < ' ':
		return string(0x2400 + r)
	case r == 0x7f:
		return "\u2421"
	case invisible(r):
		return ""
	case bidi(r):
		return fmt.Sprintf("<U+%04X>", r)
	case r >= 0x1f1e6 && r <= 0x1f1ff: // pairs of them make flags of unknown width
		return string('A' + r - 0x1f1e6)
	case r >= 0xe000 && r <= 0xf8ff, unicode.IsPrint(r):
		return string(r)
	case unicode.IsSpace(r):
		return " "
	}
	return string(utf8.RuneError)
}

// bidi characters reorder what follows them.
func bidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// invisible characters take no cell, join or restyle their neighbours.
func invisible(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0xad, r == 0x34f,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r >= 0xfff9 && r <= 0xfffb,
		r >= 0x1f3fb && r <= 0x1f3ff:
		return true
	}
	return false
}

// oneLine is clean for a place with one row.
func oneLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}
