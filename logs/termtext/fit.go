package termtext

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Line is Clean for a single row: each run of white space becomes one blank, with none at
// the ends.
func Line(s string) string {
	s = Clean(s)
	blank := true // whether the previous character is blank
	for i := range len(s) {
		now := s[i] == ' '
		if now && blank || s[i] == '\n' || s[i] == '\t' {
			return Unwrap(s)
		}
		blank = now
	}
	return strings.TrimSuffix(s, " ")
}

// Unwrap joins the lines of s: each run of white space becomes one blank. Unlike Line, it keeps all other characters,
// for text that goes into files and prompts.
func Unwrap(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstLine is the first line of s that is not blank, without blanks at its ends.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Width returns the number of terminal cells of s, which must be clean. Line ends and
// tabs take none.
//
// StringWidth, Truncate and Wrap of x/ansi separate an ASCII letter from the combining
// marks after it.
func Width(s string) (cells int) {
	for len(s) > 0 {
		n, taken := first(s)
		cells += taken
		s = s[n:]
	}
	return cells
}

// More is the end of a text that was cut.
const More = " …"

// Fit shortens s, a clean line, to at most width cells, including an ellipsis at the cut.
// It returns "" for a width below one.
func Fit(s string, width int) string {
	switch {
	case width < 1:
		return ""
	case fitting(s, width) == len(s):
		return s
	}
	return s[:fitting(s, width-1)] + "…"
}

// Wrap breaks s, which must be clean, into lines of at most width cells: at blanks if
// possible, else within a word. It drops blanks at a break and expands a tab to four
// blanks. There is at least one line. A wide character takes a line of its own even if
// width is one.
func Wrap(s string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\t", "    "), "\n") {
		for {
			end, next := breakAt(line, width)
			lines = append(lines, line[:end])
			if next == len(line) {
				break
			}
			line = line[next:]
		}
	}
	return lines
}

// breakAt returns where the first row of s ends, and where the next one starts.
func breakAt(s string, width int) (end, next int) {
	end = fitting(s, width)
	if end == 0 && s != "" { // not even one character fits
		end, _ = first(s)
	}
	if end == len(s) {
		return end, end
	}
	// Do not break at the indentation: the row would be empty.
	if i := strings.LastIndexByte(s[:end], ' '); s[end] != ' ' && strings.Trim(s[:i+1], " ") != "" {
		end = i
	}
	next = len(s) - len(strings.TrimLeft(s[end:], " "))
	return len(strings.TrimRight(s[:end], " ")), next
}

// fitting returns the length of the longest prefix of s that takes at most width cells
// and does not split a character from its marks.
func fitting(s string, width int) int {
	if len(s) <= width { // a character has at least one byte a cell
		return len(s)
	}
	for i := 0; i < len(s); {
		n, cells := first(s[i:])
		if width -= cells; width < 0 {
			return i
		}
		i += n
	}
	return len(s)
}

// first returns the length of the first character of s with its marks, and its cells.
func first(s string) (n, cells int) {
	if s[0] >= ' ' && s[0] <= '~' && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	cluster, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(cluster), cells
}
