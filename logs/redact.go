package logs

import (
	"strings"
	"sync"
)

const (
	// shownOfKey is how many bytes of a key stay visible, so that a reader recognizes it.
	shownOfKey = 6
	redacted   = "...(redacted)"
)

// Redact hides secrets of known shapes in a text for logs and screens. The first
// characters of a key stay visible, and so do the name of a variable and an address
// without its password. It returns text without secrets unchanged, without a copy.
func Redact(text string) string { return hiding().redact(text) }

// Secret is a secret in a text.
type Secret struct {
	Name string // what it is: "a GitHub token"
	Text string // the secret and the text that identifies it
}

// Secrets returns the secrets that must not be committed: those of a known shape that
// are not examples and may still give access to something.
func Secrets(text string) []Secret {
	var found []Secret
	for m := (match{}); refusing().next(text, &m); {
		found = append(found, Secret{m.shape.name, text[min(m.at, m.from):m.to]})
	}
	return found
}

// table finds the texts with which shapes start. It looks for the rarest two bytes of each:
// redaction must not be slower than the program that prints the text.
type table struct {
	index [1 << 16]uint16 // of a row, by two bytes; 0: nothing has these
	rows  [][]start
}

// start is a text with which a shape starts.
type start struct {
	text   string
	anchor int // index of its two bytes
	shape  *shape
	find   finder
}

var (
	hiding   = sync.OnceValue(func() *table { return newTable(shapes(), func(s *shape) finder { return s.hidden }) })
	refusing = sync.OnceValue(func() *table { return newTable(shapes(), func(s *shape) finder { return s.refused }) })
)

// newTable returns a table of the shapes that have such a finder.
func newTable(all []shape, by func(*shape) finder) *table {
	t := &table{rows: make([][]start, 1)}
	for i := range all {
		s := &all[i]
		if by(s) == nil {
			continue
		}
		for _, text := range s.starts {
			one := start{text: text, shape: s, find: by(s)}
			if len(text) == 1 {
				for next := range 256 {
					t.add(text[0], byte(next), one)
				}
				continue
			}
			for k := range len(text) - 1 {
				if rarity(text[k])+rarity(text[k+1]) > rarity(text[one.anchor])+rarity(text[one.anchor+1]) {
					one.anchor = k
				}
			}
			t.add(text[one.anchor], text[one.anchor+1], one)
		}
	}
	return t
}

func (t *table) add(a, b byte, one start) {
	row := &t.index[pair(a, b)]
	if *row == 0 {
		*row = uint16(len(t.rows))
		t.rows = append(t.rows, nil)
	}
	t.rows[*row] = append(t.rows[*row], one)
}

// rarity is higher for bytes that ordinary text has less of.
func rarity(b byte) int {
	const common = " etaoinsrhldcumfpgwybvkxjqz\",./:-_\\{}0123456789"
	if i := strings.IndexByte(common, b); i >= 0 {
		return i
	}
	return len(common)
}

// match is a secret in a text. The zero value is before the first one.
type match struct {
	shape    *shape
	at       int // where the shape starts
	from, to int // the secret
}

// skip returns the first index from i on at which two bytes of a shape are. It looks at seven at once.
func (t *table) skip(text string, i int) int {
	for ; i+8 <= len(text); i += 7 {
		w := text[i : i+8]
		eight := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 | uint64(w[4])<<32 |
			uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		if t.index[uint16(eight)]|t.index[uint16(eight>>8)]|t.index[uint16(eight>>16)]|t.index[uint16(eight>>24)]|
			t.index[uint16(eight>>32)]|t.index[uint16(eight>>40)]|t.index[uint16(eight>>48)] != 0 {
			break
		}
	}
	for i+1 < len(text) && t.index[pair(text[i], text[i+1])] == 0 {
		i++
	}
	return i
}

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// next finds the next secret.
func (t *table) next(text string, m *match) bool {
	for i := t.skip(text, m.to); i+1 < len(text); i = t.skip(text, i+1) {
		for _, one := range t.rows[t.index[pair(text[i], text[i+1])]] {
			at := i - one.anchor
			if at < 0 || !strings.HasPrefix(text[at:], one.text) ||
				!one.shape.inside && isWordByte(one.text[0]) && !startsWord(text, at) {
				continue
			}
			if from, to, ok := one.find(text, at); ok && to > m.to {
				*m = match{one.shape, at, from, to}
				return true
			}
		}
	}
	return false
}

func (t *table) redact(text string) string {
	var b strings.Builder
	kept := 0 // text[:kept] has been written to b
	for m := (match{}); t.next(text, &m); kept = m.to {
		if m.from >= kept { // else what is before it is hidden already
			b.WriteString(text[kept:m.from])
			b.WriteString(redacted)
		}
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// startsWord reports whether a word begins at text[i]: what comes before it is no
// letter or digit of the same word, but may be an escape such as \n, %3D or ESC[31m.
func startsWord(text string, i int) bool {
	if i == 0 || !isWordByte(text[i-1]) {
		return true
	}
	if i < 2 {
		return false
	}
	before := text[:i]
	switch c := text[i-1]; {
	case text[i-2] == '\\' && (c == 'n' || c == 'r' || c == 't'):
		return true
	case isHex(c) && isHex(text[i-2]) && i > 2 && text[i-3] == '%':
		return true
	case c == 'm':
		return strings.HasSuffix(strings.TrimRight(before[:i-1], "0123456789;"), "[")
	}
	return false
}

// isWordByte reports whether b is a letter or a digit.
func isWordByte(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' }

// isKeyByte reports whether b may be in a key.
func isKeyByte(b byte) bool { return isWordByte(b) || b == '-' || b == '_' || b == '.' }

func isHex(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
