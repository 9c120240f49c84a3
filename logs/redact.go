package logs

import "strings"

const (
	// shortestKey is the minimum number of consecutive key bytes in any secret but
	// private keys and addresses.
	shortestKey = 16
	// shownOfKey is how many bytes of a key stay visible, so that a reader recognizes it.
	shownOfKey = 6
	redacted   = "...(redacted)"
)

// Redact hides secrets of known shapes in a text for logs and screens. The first
// characters of a key stay visible, and all of an address but the password. Text without
// secrets is returned unchanged, without a copy.
//
// It is for what ralph itself writes. The raw output of an agent is kept unchanged,
// readable only by its owner.
func Redact(text string) string {
	if !hasLongWord(text) && !hasPassword(text) && !strings.Contains(text, "PRIVATE KEY") {
		return text
	}
	for _, s := range shapes() {
		if s.likely(text) {
			text = s.redact(text)
		}
	}
	return text
}

func (s *shape) redact(text string) string {
	var b strings.Builder
	kept := 0 // text[:kept] has been written to b
	for _, at := range s.hidden().FindAllStringSubmatchIndex(text, -1) {
		if s.shown != nil && s.shown(text[at[0]:at[1]]) {
			continue
		}
		from, to := min(at[0]+shownOfKey, at[1]), at[1]
		if len(at) > 2 {
			from, to = at[2], at[3]
		}
		b.WriteString(text[kept:from])
		b.WriteString(redacted)
		kept = to
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// hasLongWord looks for shortestKey consecutive key bytes. It tests every
// shortestKey-th byte first, so that prose passes at memory speed.
func hasLongWord(text string) bool {
	for i := shortestKey - 1; i < len(text); i += shortestKey {
		from, to := i, i
		for from > 0 && from > i-shortestKey && isKeyByte(text[from]) {
			from--
		}
		if from == i {
			continue
		}
		for to < len(text)-1 && to-from < shortestKey && isKeyByte(text[to+1]) {
			to++
		}
		if to-from >= shortestKey || from == 0 && to-from == shortestKey-1 && isKeyByte(text[0]) {
			return true
		}
	}
	return false
}

func isKeyByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.'
}
