package view

import (
	"bytes"
	"strings"
	"unicode"
)

// Needle finds lines that may hold a text: all of those that do, and few others. The zero value finds
// every line.
type Needle struct {
	lower, upper []byte // the longest part that stands in JSON as it is
	rare         int    // index of its rarest letter
}

// NeedleOf returns the needle for a text; fold: in any case.
func NeedleOf(text string, fold bool) Needle {
	longest := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool {
		return r < ' ' || r > '~' || strings.ContainsRune(`"\\<>&`, r)
	}) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	n := Needle{lower: []byte(longest), upper: []byte(longest)}
	if fold {
		n.lower, n.upper = bytes.ToLower(n.lower), bytes.ToUpper(n.upper)
	}
	const common = ` etaoinsrhldcumfpgwybvkxjqz` // the most common first
	for i, c := range n.lower {
		if at := strings.IndexByte(common, byte(unicode.ToLower(rune(c)))); at < 0 ||
			at > strings.IndexByte(common, n.lower[n.rare]|' ') {
			n.rare = i
		}
	}
	return n
}

// In reports whether a line may hold the text.
func (n Needle) In(line []byte) bool {
	if len(n.lower) == 0 {
		return true
	}
	return n.in(line, n.lower[n.rare]) || n.lower[n.rare] != n.upper[n.rare] && n.in(line, n.upper[n.rare])
}

// in looks at each place of the rare letter.
func (n Needle) in(line []byte, letter byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(line[at:], letter)
		if i < 0 {
			return false
		}
		at += i
		if from := at - n.rare; from >= 0 && n.at(line[from:]) {
			return true
		}
	}
}

func (n Needle) at(line []byte) bool {
	if len(line) < len(n.lower) {
		return false
	}
	for i, c := range n.lower {
		if line[i] != c && line[i] != n.upper[i] {
			return false
		}
	}
	return true
}
