package boxes

// This file reads the parts of Markdown that plans are made of: fences, comments,
// headings and list markers. It knows nothing of tasks.

import "strings"

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

// SetextLevel returns 1 for a line of "=", 2 for a line of "-", else 0.
func SetextLevel(text string) int {
	line := strings.TrimSpace(text)
	switch {
	case line == "" || Indent(text) > 3:
		return 0
	case strings.Trim(line, "=") == "":
		return 1
	case strings.Trim(line, "-") == "":
		return 2
	}
	return 0
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

// MarkdownLine is a line outside of fenced code. What is in comments is blank.
type MarkdownLine struct {
	Number     int // 1-based
	Start, End int // without the line break
	Text       string
}

// MarkdownLines returns the lines of a text that are not in fenced code. A fence or comment without
// an end hides nothing.
func MarkdownLines(text string) []MarkdownLine {
	var (
		all       = make([]MarkdownLine, 0, strings.Count(text, "\n")+1)
		open      mdFence
		inComment bool
		ends      = closingFences(text)
		number    int
	)
	start := 0
	for raw := range strings.Lines(text) {
		number++
		shown := strings.TrimRight(raw, "\r\n")
		l := MarkdownLine{Number: number, Start: start, End: start + len(shown), Text: shown}
		start += len(raw)
		if inComment {
			i := strings.Index(l.Text, "-->")
			if i < 0 {
				continue
			}
			inComment = false
			l.Text = strings.Repeat(" ", i+3) + l.Text[i+3:]
		}
		if open.Length > 0 {
			if open.ClosedBy(l.Text) {
				open = mdFence{}
			}
			continue
		}
		if f, ok := fenceIn(l.Text); ok && ends.After(l.Start, f) {
			open = f
			continue
		}
		for i := commentStart(l.Text, 0); i >= 0; i = commentStart(l.Text, i) {
			end := strings.Index(l.Text[i:], "-->")
			if end < 0 {
				if inComment = strings.Contains(text[l.End:], "-->"); inComment {
					l.Text = l.Text[:i]
				}
				break
			}
			l.Text = l.Text[:i] + strings.Repeat(" ", end+3) + l.Text[i+end+3:]
		}
		all = append(all, l)
	}
	return all
}
