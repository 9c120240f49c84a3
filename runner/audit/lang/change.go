package lang

import (
	"slices"
	"strings"
)

// Changed cuts two versions of a test down to the lines between which they
// differ, in whole statements. What is cut off is the same in both.
func Changed(b, a Source) (was, is Source) {
	return changed(b, a, statements)
}

// ChangedLines cuts two versions of a file down to the lines between which they
// differ.
func ChangedLines(b, a string) (was, is string) {
	x, y := changed(Source{b, b}, Source{a, a}, func(text string) []int {
		starts := []int{0}
		for i := range len(text) {
			if text[i] == '\n' {
				starts = append(starts, i+1)
			}
		}
		return starts
	})
	return x.Text, y.Text
}

// changed cuts at places that starts names, in order, for both.
func changed(b, a Source, starts func(code string) []int) (was, is Source) {
	same := min(prefix(b.Text, a.Text), prefix(b.Code, a.Code))
	if same == len(a.Text) && same == len(b.Text) {
		return Source{}, Source{}
	}
	before, head := starts(b.Code), same
	if i, found := slices.BinarySearch(before, same); !found {
		head = before[i-1] // the first is 0
	}
	most := min(suffix(b.Text[head:], a.Text[head:]), suffix(b.Code[head:], a.Code[head:]))
	tail := 0
	for _, at := range starts(a.Code) {
		left := len(a.Code) - at
		if left > most {
			continue
		}
		if _, found := slices.BinarySearch(before, len(b.Code)-left); found {
			tail = left
			break
		}
	}
	return b.Cut(head, len(b.Text)-tail), a.Cut(head, len(a.Text)-tail)
}

// SameForm says whether nothing but values differs: digits and the insides of
// strings.
func SameForm(b, a Source) bool {
	i, j := 0, 0
	for {
		for i < len(b.Code) && value(b.Code[i]) {
			i++
		}
		for j < len(a.Code) && value(a.Code[j]) {
			j++
		}
		if i == len(b.Code) || j == len(a.Code) {
			return i == len(b.Code) && j == len(a.Code)
		}
		if b.Code[i] != a.Code[j] {
			return false
		}
		i, j = i+1, j+1
	}
}

func value(c byte) bool { return c == filler || c >= '0' && c <= '9' }

func prefix(x, y string) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

func suffix(x, y string) int {
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// statements are where statements begin: lines that are not inside of round or
// square brackets, a literal or a string.
func statements(code string) []int {
	starts := []int{0}
	var open []bool // the brackets that are open; true for a block
	for i := range len(code) {
		switch c := code[i]; c {
		case '(', '[':
			open = append(open, false)
		case '{':
			open = append(open, block(code, i))
		case ')', ']', '}':
			open = open[:max(len(open)-1, 0)]
		case '\n':
			if (len(open) == 0 || open[len(open)-1]) && (i == 0 || code[i-1] != filler) && (i+1 == len(code) || code[i+1] != filler) {
				starts = append(starts, i+1)
			}
		}
	}
	return starts
}

// block says whether the brace at i opens a block of statements, and no literal.
func block(code string, i int) bool {
	before := strings.TrimRight(code[:i], " ")
	return before == "" || len(before) < i && (wordByte(before[len(before)-1]) || strings.IndexByte(")>", before[len(before)-1]) >= 0)
}
