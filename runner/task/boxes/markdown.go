package boxes

// This file reads the parts of Markdown that plans are made of: fences, comments,
// headings and list markers. It knows nothing of tasks.

import (
	"bytes"
	"iter"
	"strings"
)

// mdFence is the opening line of fenced code; Length 0: none.
type mdFence struct {
	char   byte // '`' or '~'
	Length int
	Floor  int // a line with less indent ends it together with its list item
}

// fenceIn reads an opening fence at the start of text, at any indent.
func fenceIn(text string) (mdFence, bool) {
	text = text[Blank(text):]
	if text == "" || (text[0] != '`' && text[0] != '~') {
		return mdFence{}, false
	}
	f := mdFence{char: text[0]}
	for f.Length < len(text) && text[f.Length] == f.char {
		f.Length++
	}
	if f.Length < 3 || (f.char == '`' && strings.Contains(text[f.Length:], "`")) {
		return mdFence{}, false
	}
	return f, true
}

// ClosedBy reports whether text is a line of at least as many fence characters and nothing
// else. The indent does not matter, because people are sloppy about it.
func (f mdFence) ClosedBy(text string) bool {
	end, ok := fenceIn(text)
	return ok && end.char == f.char && end.Length >= f.Length && len(strings.TrimSpace(text)) == end.Length
}

// fenceEnds is the offset of the last line that closes a fence, by fence character and
// length. Lengths above maxFence count as maxFence.
type fenceEnds map[byte]*[maxFence + 1]int

const maxFence = 64

// closingFences finds the lines of a text that can close a fence.
func closingFences(text string) fenceEnds {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return nil // nearly always, in a folder of many files
	}
	ends := fenceEnds{'`': {}, '~': {}}
	offset := 0
	for line := range strings.Lines(text) {
		f, ok := fenceIn(strings.TrimRight(line, "\r\n"))
		if ok && f.ClosedBy(line) {
			for n := min(f.Length, maxFence); n >= 3; n-- {
				ends[f.char][n] = offset
			}
		}
		offset += len(line)
	}
	return ends
}

// After reports whether a fence opened at offset start is closed later.
func (e fenceEnds) After(start int, f mdFence) bool {
	return e != nil && e[f.char][min(f.Length, maxFence)] > start
}

// commentStart returns the offset of the first "<!--" at or after from that is not in a
// code span of this line, or -1.
func commentStart(text string, from int) int {
	if !strings.Contains(text, "<!--") {
		return -1
	}
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == '`':
			run := 1
			for i+run < len(text) && text[i+run] == '`' {
				run++
			}
			i += run - 1 + codeSpan(text[i+run:], run)
		case strings.HasPrefix(text[i:], "<!--"):
			return i
		}
	}
	return -1
}

// codeSpan returns the length of the code span in text, with its end, after an opening run
// of backticks. It returns 0 if no equal run ends it.
func codeSpan(text string, run int) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := 1
		for i+n < len(text) && text[i+n] == '`' {
			n++
		}
		i += n
		if n == run {
			return i
		}
	}
	return 0
}

// ATXHeading reads "## Title", indented by at most three columns.
func ATXHeading(text string) (level int, title string, ok bool) {
	if Indent(text) > 3 {
		return 0, "", false
	}
	text = strings.TrimSpace(text)
	for level < len(text) && text[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || (level < len(text) && text[level] != ' ' && text[level] != '\t') {
		return 0, "", false
	}
	return level, text[level:], true
}

// CleanHeading strips closing # and extra blanks.
func CleanHeading(title string) string {
	return strings.Join(strings.Fields(strings.TrimRight(strings.TrimSpace(title), "#")), " ")
}

// HeadingKey normalises a heading for comparison: no case, emphasis or final colon.
func HeadingKey(title string) string {
	return strings.ToLower(strings.Trim(CleanHeading(title), " *_`:"))
}

// Indent returns the column of the first character that is not blank.
func Indent(text string) int { return column(text[:Blank(text)]) }

// column returns the column after prefix, which consists of blanks and list markers. Tabs go to
// the next multiple of four.
func column(prefix string) int {
	col := 0
	for _, c := range []byte(prefix) {
		if c == '\t' {
			col += 4 - col%4
			continue
		}
		col++
	}
	return col
}

// Blank returns the number of leading spaces and tabs.
func Blank(text string) int {
	n := 0
	for n < len(text) && (text[n] == ' ' || text[n] == '\t') {
		n++
	}
	return n
}

// MarkerLen returns the length of the list marker at the start of text, without the space or
// tab that must follow it, or 0 if there is none.
func MarkerLen(text string) int {
	n := 0
	for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	end := "-*+"
	if n > 0 {
		end = ".)"
	}
	if n+1 >= len(text) || strings.IndexByte(end, text[n]) < 0 || (text[n+1] != ' ' && text[n+1] != '\t') {
		return 0
	}
	return n + 1
}

// skipMarkers returns the offset after the list markers in text.
func skipMarkers(text string) int {
	at := Blank(text)
	for range maxMarkers {
		n := MarkerLen(text[at:])
		at += n + Blank(text[at+n:])
	}
	return at
}

// maxMarkers bounds the list markers in one line.
const maxMarkers = 8

// MarkdownLine is a line of a Markdown file.
type MarkdownLine struct {
	Number     int    // 1-based
	Start, End int    // without the line break
	Text       string // blank where a comment hides it
	Code       bool   // it is in fenced code
	fence      bool   // it opens or closes fenced code
}

// MarkdownLines returns the lines of a text. A fence or comment without an end hides nothing: a typo must not make
// open tasks disappear.
func MarkdownLines(text string) iter.Seq[MarkdownLine] {
	return func(yield func(MarkdownLine) bool) {
		s := lineScanner{text: text, ends: closingFences(text)}
		start, number := 0, 0
		for raw := range strings.Lines(text) {
			number++
			shown := strings.TrimRight(raw, "\r\n")
			l := MarkdownLine{Number: number, Start: start, End: start + len(shown), Text: shown}
			s.hide(&l)
			if !yield(l) {
				return
			}
			start += len(raw)
		}
	}
}

// lineScanner knows in what code or comment a line begins.
type lineScanner struct {
	text      string
	ends      fenceEnds
	fence     mdFence
	inComment bool
	markers   []int // columns of the markers of the list items that may contain the line
}

// hide marks a line in fenced code, and blanks what is in comments.
func (s *lineScanner) hide(l *MarkdownLine) {
	if s.inComment {
		end := strings.Index(l.Text, "-->") + len("-->")
		if s.inComment = end < len("-->"); s.inComment {
			l.Text = ""
			return
		}
		l.Text = strings.Repeat(" ", end) + l.Text[end:]
	}
	if s.fence.Length > 0 {
		l.fence = s.fence.ClosedBy(l.Text)
		if l.Code = strings.TrimSpace(l.Text) == "" || l.fence || Indent(l.Text) >= s.fence.Floor; !l.Code || l.fence {
			s.fence = mdFence{} // it is closed, or the list item around it ended
		}
		if l.Code {
			return
		}
	}
	if s.ends != nil {
		s.items(l.Text)
		if f, ok := fenceIn(l.Text[skipMarkers(l.Text):]); ok && s.ends.After(l.Start, f) {
			if n := len(s.markers); n > 0 {
				f.Floor = s.markers[n-1] + 1
			}
			s.fence, l.Code, l.fence = f, true, true
			return
		}
	}
	l.Text = s.withoutComments(l)
}

// items notes which list items contain a line.
func (s *lineScanner) items(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for n := len(s.markers); n > 0 && Indent(text) <= s.markers[n-1]; n-- {
		s.markers = s.markers[:n-1]
	}
	for at := 0; ; {
		at += Blank(text[at:])
		n := MarkerLen(text[at:])
		if n == 0 || len(s.markers) > len(text) {
			return
		}
		s.markers = append(s.markers, column(text[:at]))
		at += n
	}
}

// withoutComments returns the text of a line with its HTML comments blanked.
func (s *lineScanner) withoutComments(l *MarkdownLine) string {
	text := l.Text
	open := commentStart(text, 0)
	if open < 0 {
		return text
	}
	shown := []byte(text)
	for ; open >= 0; open = commentStart(text, open) {
		end := strings.Index(text[open+4:], "-->")
		if end < 0 {
			// In the middle of a line, and with another comment before the next end, it only mentions comments.
			rest := s.text[l.Start+open+4:]
			if len(bytes.TrimSpace(shown[:open])) > 0 {
				rest, _, _ = strings.Cut(rest, "<!--")
			}
			if s.inComment = strings.Contains(rest, "-->"); s.inComment {
				shown = shown[:open]
			}
			break
		}
		for end += open + 4 + len("-->"); open < end; open++ {
			shown[open] = ' '
		}
	}
	return string(shown)
}
