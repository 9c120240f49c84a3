package logs

import "strings"

// Inert makes text that comes from elsewhere harmless for a terminal: nothing in
// it can move the cursor, change colours or titles, or reverse the reading
// direction. Line ends and tabs stay.
func Inert(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}
