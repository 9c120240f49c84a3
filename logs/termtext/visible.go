package termtext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as one row in which nothing hides, for text that a person has to
// judge. A blank that is not a single one between two characters becomes ␣, a tab ⇥, a
// line end ⏎. Every other character that Clean would change, and every combining mark,
// is named by its number, as in <U+200B>.
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
