package wire

import "strings"

// StripTerminal removes what a terminal adds to a line: escape sequences, the
// echo of a typed control key in front of it ("^C"), and everything that a
// carriage return overwrites.
func StripTerminal(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = stripEscapes(s)
	}
	for len(s) > 2 && s[0] == '^' && s[1] >= '@' && s[1] <= '_' && s[1] != '^' {
		s = s[2:]
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.TrimRight(s, "\r")
		s = s[strings.LastIndexByte(s, '\r')+1:]
	}
	return strings.TrimLeft(s, "\x00\a\b")
}

func stripEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i >= len(s) {
			break
		}
		switch s[i] {
		case '[': // CSI: parameters, then one final byte
			for i++; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
			}
		case ']', 'P', '_', '^': // OSC and strings: up to BEL or ESC \
			for i++; i < len(s) && s[i] != '\a' && s[i] != 0x1b; i++ {
			}
			if i+1 < len(s) && s[i] == 0x1b && s[i+1] == '\\' {
				i++
			} else if i < len(s) && s[i] == 0x1b {
				i-- // a new sequence begins
			}
		case '(', ')', '#', ' ': // one more byte
			i++
		}
	}
	return b.String()
}
