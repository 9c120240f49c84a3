package boxes

import (
	"strings"
	"unicode/utf8"

	"ralph/logs/termtext"
	"ralph/runner/task"
)

// oneBox is a box and its text.
type oneBox struct {
	state    task.State
	mark     int    // bytes between the brackets
	word     string // a mark that ralph does not know, or the whole box in a loose list
	title    string
	title0   int // where the title begins
	optional bool
}

// box reads "[ ] title" or "[x] title".
func (s *scanner) box(text string) (b oneBox, ok bool) {
	if len(text) < 4 || text[0] != '[' || !s.marked(text, &b) {
		return b, false
	}
	end := b.mark + 2
	if end >= len(text) || strings.IndexByte("([:", text[end]) >= 0 { // a link or a link target
		return b, false
	}
	b.title0 = end
	if s.star && text[end] == '*' {
		b.optional, b.title0 = true, end+1
	}
	b.title = oneLine(text[b.title0:])
	b.title0 += Blank(text[b.title0:])
	return b, b.title != ""
}

// marked reads what is between the brackets.
func (s *scanner) marked(text string, b *oneBox) bool {
	if text[2] == ']' {
		if i := strings.IndexByte(s.marks, text[1]); i >= 0 {
			b.mark, b.state = 1, s.state[i]
			return true
		}
	}
	end := strings.IndexByte(text, ']')
	if !s.loose && end > 1 && end+1 < len(text) && text[end+1] == ' ' && strings.Contains(oddMarks, text[1:end]) {
		b.mark, b.word, b.state = end-1, text[1:end], task.Blocked
		return true
	}
	if !s.loose || end < 0 {
		return false
	}
	mark := strings.TrimSpace(text[1:end])
	b.mark, b.word = end-1, text[:end+1]
	if strings.EqualFold(mark, "x") {
		b.state = task.Done
	}
	return utf8.RuneCountInString(mark) <= 1
}

// oneLine returns a text with one space between words. It makes no copy of a text that already is so.
func oneLine(text string) string {
	text = strings.TrimSpace(text)
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < ' ' || c == ' ' && text[i+1] == ' ' { // it does not end with a space
			return termtext.Unwrap(text)
		}
	}
	return text
}
