// Package termtext makes text of unknown origin safe to print on a terminal, and
// measures, shortens and wraps it there.
package termtext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxString limits the payload of a terminal string (OSC, DCS, APC, PM, SOS). Clean shows a longer
// one as text: a missing end must not hide what follows.
const maxString = 4096

// maxMarks is how many combining marks a character keeps. More would be drawn over the
// lines above.
const maxMarks = 2

// nothing stands for a removed character.
const nothing rune = -1

// Clean returns s without escape sequences and without control, bidi and zero-width
// characters other than \n and \t. The result cannot move the cursor, hide text, change
// its order or join characters.
//
// \r\n, a lone \r and the Unicode line separators become \n, other white space becomes a
// blank, and the halves of a flag become letters. Each byte of invalid UTF-8 and each
// unassigned code point becomes U+FFFD. A terminal string that does not end on its line
// is shown as text, so that it cannot swallow the rest. Clean text is returned
// unchanged, without a copy.
func Clean(s string) string {
	c := cleaner{s: s, marks: maxMarks}
	var b strings.Builder
	kept := 0 // s[:kept] has been written to b
	for i := 0; i < len(s); {
		switch {
		case s[i] > ' ' && s[i] <= '~':
			c.marks = 0
			i++
			continue
		case s[i] == ' ', s[i] == '\n', s[i] == '\t':
			c.marks = maxMarks // no character here for a mark
			i++
			continue
		}
		shown, n, same := c.next(i)
		if same {
			i += n
			continue
		}
		b.WriteString(s[kept:i])
		if shown != nothing {
			b.WriteRune(shown)
		}
		i += n
		kept = i
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

type cleaner struct {
	s     string
	marks int // combining marks on the current character
	noEnd int // no terminal string ends before this offset
}

// next returns what to show for the character or escape sequence at i, its length in
// bytes, and whether it is shown unchanged.
func (c *cleaner) next(i int) (shown rune, n int, same bool) {
	r, n := utf8.DecodeRuneInString(c.s[i:])
	switch {
	case r == utf8.RuneError && n == 1:
		c.marks = 0
		return r, 1, false
	case r == ansi.ESC || r >= 0x80 && r <= 0x9f:
		return nothing, c.escape(i), false
	case plain(r):
		c.marks = 0
		return r, n, true
	}
	shown = c.special(r, i+n)
	return shown, n, shown == r
}

// escape returns the length of the escape sequence at i. It starts with ESC or with a C1
// control, which means the same as ESC and a letter.
//
// x/ansi does not handle terminal strings safely: it takes a byte within a UTF-8
// character for their end, and a string without an end for all of the text.
func (c *cleaner) escape(i int) int {
	start, kind := i, byte(0)
	switch {
	case c.s[i] != ansi.ESC: // the second of the two bytes is the 8-bit control
		start++
		kind = c.s[start] - 0x40
	case i+1 < len(c.s):
		kind = c.s[i+1]
	}
	if strings.IndexByte("]PX^_", kind) >= 0 {
		return 2 + c.payload(i+2)
	}
	_, _, n, _ := ansi.DecodeSequence(c.s[start:], ansi.NormalState, nil)
	return start + n - i
}

// payload returns the length of a terminal string's payload with its end, or 0 if it
// does not end on this line.
func (c *cleaner) payload(start int) int {
	last := min(len(c.s), start+maxString)
	for i := max(start, c.noEnd); i < last; i++ {
		switch {
		case c.s[i] == ansi.BEL:
			return i + 1 - start
		case strings.HasPrefix(c.s[i:], "\x1b\\"), strings.HasPrefix(c.s[i:], "\u009c"):
			return i + 2 - start
		case c.s[i] == '\n':
			c.noEnd = i
			return 0
		}
	}
	// The next search continues here, so that many starts are read only once.
	c.noEnd = max(c.noEnd, last)
	return 0
}

// plain reports whether r is one of the common characters that need no look-up in the
// Unicode tables.
func plain(r rune) bool {
	switch {
	case r < 0xa1 || r == 0xad:
		return false
	case r < 0x300, // Latin
		r >= 0x2010 && r <= 0x2027, // punctuation
		r >= 0x2190 && r <= 0x2426, // arrows, mathematics, technical signs
		r >= 0x2500 && r <= 0x2b73, // frames, shapes, dingbats, Braille
		r >= 0x4e00 && r <= 0x9fff, // Chinese
		r >= 0xac00 && r <= 0xd7a3, // Korean
		r >= 0xe000 && r <= 0xf8ff: // private use: the icons of terminal fonts
		return true
	}
	return false
}

// special returns what to show for a character that may need a change; end is the offset
// after it.
func (c *cleaner) special(r rune, end int) rune {
	switch {
	case r == '\r' && (end == len(c.s) || c.s[end] == '\n'):
		return nothing
	case r == '\r', r == '\u2028', r == '\u2029':
		c.marks = maxMarks
		return '\n'
	case unicode.IsSpace(r):
		c.marks = maxMarks
		return ' '
	case unicode.IsControl(r), bidi(r), invisible(r):
		return nothing
	case unicode.In(r, unicode.Mn, unicode.Me):
		if c.marks == maxMarks {
			return nothing
		}
		c.marks++
		return r
	}
	c.marks = 0
	switch {
	case r >= 0x1f1e6 && r <= 0x1f1ff: // terminals disagree on the width of flags
		return 'A' + r - 0x1f1e6
	case unicode.IsPrint(r):
		return r
	}
	return utf8.RuneError
}

// bidi reports whether r changes the order in which text is drawn.
func bidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// invisible reports whether r takes no cell, or joins or restyles its neighbours.
func invisible(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0xad || r == 0x34f ||
		r >= 0x180b && r <= 0x180f || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff ||
		r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r >= 0xfff9 && r <= 0xfffb ||
		r >= 0x1f3fb && r <= 0x1f3ff
}

// Defuse returns s without what controls a terminal or changes the order of text, and keeps every other byte, also
// the line ends of Windows: unlike Clean, it is for text that a program may read.
func Defuse(s string) string {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		controls := unicode.IsControl(r) && r != '\n' && r != '\t' && (r != '\r' || !strings.HasPrefix(s[i+1:], "\n"))
		if r == utf8.RuneError && n == 1 { // of C1 for terminals without UTF-8
			controls = s[i] < 0xa0
		}
		if controls || bidi(r) {
			b.WriteString(s[kept:i])
			kept = i + n
		}
		i += n
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}
