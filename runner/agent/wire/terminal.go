package wire

import (
	"strings"

	"ralph/logs/termtext"
)

// StripTerminal removes what a terminal adds to a line: escape sequences, the
// echo of a typed control key in front of it ("^C"), and everything that a
// carriage return overwrites.
func StripTerminal(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = cleanEnd(s)
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

// cleanEnd returns what follows the last carriage return, without escape
// sequences. It skips ends that print nothing: a CLI shows the cursor again
// behind its last carriage return.
func cleanEnd(s string) string {
	for {
		i := strings.LastIndexByte(s, '\r')
		if text := termtext.Clean(s[i+1:]); text != "" || i < 0 {
			return text
		}
		s = s[:i]
	}
}
