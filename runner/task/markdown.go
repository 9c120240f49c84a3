package task

import "strings"

// fence is the opening line of fenced code; length 0: none.
type fence struct {
	char   byte // '`' or '~'
	length int
	floor  int // a line with less indent ends it together with its list item
}

// fenceIn reads an opening fence at the start of text, at any indent.
func fenceIn(text string) (fence, bool) {
	text = text[blankPrefix(text):]
	if text == "" || (text[0] != '`' && text[0] != '~') {
		return fence{}, false
	}
	f := fence{char: text[0]}
	for f.length < len(text) && text[f.length] == f.char {
		f.length++
	}
	if f.length < 3 || (f.char == '`' && strings.Contains(text[f.length:], "`")) {
		return fence{}, false
	}
	return f, true
}

// closedBy reports whether text is a line of at least as many fence characters and nothing
// else. The indent does not matter, because people are sloppy about it.
func (f fence) closedBy(text string) bool {
	end, ok := fenceIn(text)
	return ok && end.char == f.char && end.length >= f.length && len(strings.TrimSpace(text)) == end.length
}

// fenceEnds is the offset of the last line that closes a fence, by fence character and
// length. Lengths above maxFence count as maxFence.
type fenceEnds map[byte]*[maxFence + 1]int

const maxFence = 64

func closingFences(text string) fenceEnds {
	ends := fenceEnds{'`': {}, '~': {}}
	offset := 0
	for line := range strings.Lines(text) {
		f, ok := fenceIn(strings.TrimRight(line, "\r\n"))
		if ok && f.closedBy(line) {
			for n := min(f.length, maxFence); n >= 3; n-- {
				ends[f.char][n] = offset
			}
		}
		offset += len(line)
	}
	return ends
}

// after reports whether a fence opened at offset start is closed later.
func (e fenceEnds) after(start int, f fence) bool {
	return e[f.char][min(f.length, maxFence)] > start
}

// commentStart returns the offset of the first "<!--" at or after from that is not in a
// code span of this line, or -1.
func commentStart(text string, from int) int {
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

// atxHeading reads "## Title", indented by at most three columns.
func atxHeading(text string) (level int, title string, ok bool) {
	if indentOf(text) > 3 {
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

// setextLevel is 1 for a line of "=", 2 for a line of "-", else 0.
func setextLevel(text string) int {
	line := strings.TrimSpace(text)
	switch {
	case line == "" || indentOf(text) > 3:
		return 0
	case strings.Trim(line, "=") == "":
		return 1
	case strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

// cleanHeading strips closing # and extra blanks.
func cleanHeading(title string) string {
	return strings.Join(strings.Fields(strings.TrimRight(strings.TrimSpace(title), "#")), " ")
}

// headingKey normalises a heading for comparison: no case, emphasis or final colon.
func headingKey(title string) string {
	return strings.ToLower(strings.Trim(cleanHeading(title), " *_`:"))
}

// indentOf is the column of the first character that is not blank.
func indentOf(text string) int { return column(text[:blankPrefix(text)]) }

// column is the column after prefix, which consists of blanks and list markers. Tabs go to
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

// blankPrefix is the number of leading spaces and tabs.
func blankPrefix(text string) int {
	return len(text) - len(strings.TrimLeft(text, " \t"))
}

// markerLen is the length of the list marker at the start of text, 0 if there is none. A
// blank must follow it.
func markerLen(text string) int {
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

// skipMarkers is the offset after the list markers in text.
func skipMarkers(text string) int {
	at := blankPrefix(text)
	for range maxMarkers {
		n := markerLen(text[at:])
		at += n + blankPrefix(text[at+n:])
	}
	return at
}
