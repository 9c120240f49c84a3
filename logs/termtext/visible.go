package termtext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s as one row that hides nothing, for text that a person must
// judge. A blank becomes ␣ unless it is a single one between two characters, a tab becomes ⇥, and a
// line end ⏎. Every other character that Clean would change, and every combining mark,
// becomes its number, as in <U+200B>.
func Visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		n := utf8.RuneLen(r)
		switch {
		case r == ' ' && i > 0 && i+1 < len(s) && s[i-1] != ' ' && s[i+1] != ' ':
			b.WriteByte(' ')
		case r == ' ':
			b.WriteRune('␣')
		case r == '\t':
			b.WriteRune('⇥')
		case r == '\n':
			b.WriteRune('⏎')
		case r == utf8.RuneError && (n < 0 || !strings.HasPrefix(s[i:], "\ufffd")):
			fmt.Fprintf(&b, "<%02X>", s[i])
		case unicode.Is(unicode.M, r), Clean(string(r)) != string(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// JSON returns JSON text in which each character that Clean would change is written as an
// escape: programs read the same values, and a terminal shows what is there.
func JSON(s string) string {
	if Clean(s) == s {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && r != 0x7f, Clean(string(r)) == string(r) && !unicode.Is(unicode.M, r):
			b.WriteRune(r) // JSON escapes the control characters of ASCII itself
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
