package main

import (
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
)

const (
	foreground = "#d4d4d4"
	background = "#1e1e1e"
)

// basic returns one of the sixteen named colours.
func basic(n int) string {
	return [...]string{
		"#3b3b3b", "#f14c4c", "#23d18b", "#e5e510", "#3b8eea", "#d670d6", "#29b8db", "#d4d4d4",
		"#7f7f7f", "#ff6e6e", "#4be8a6", "#f5f543", "#6cb0ff", "#e58ae5", "#5cd0ee", "#ffffff",
	}[n]
}

// style is how a cell looks. The zero value is the terminal's own.
type style struct {
	fg, bg             string // empty: the terminal's own
	bold, dim, reverse bool
}

func (s style) colors() (fg, bg string) {
	fg, bg = s.fg, s.bg
	if fg == "" {
		fg = foreground
	}
	if bg == "" {
		bg = background
	}
	if s.reverse {
		return bg, fg
	}
	return fg, bg
}

// cell is one column of a row; the second one of a wide character is empty.
type cell struct {
	text  string
	style style
}

// parse reads rows of text with SGR sequences, the only ones in a capture.
func parse(screen string) [][]cell {
	var rows [][]cell
	var s style
	for line := range strings.SplitSeq(strings.TrimRight(screen, "\n"), "\n") {
		var row []cell
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				codes, after, found := strings.Cut(rest, "m")
				if !found {
					break
				}
				s, line = s.with(codes), after
				continue
			}
			r := []rune(line)[0]
			line = line[len(string(r)):]
			switch width := runewidth.RuneWidth(r); {
			case r < ' ':
			case width == 0 && len(row) > 0:
				row[len(row)-1].text += string(r)
			default:
				row = append(row, cell{string(r), s})
				for ; width > 1; width-- {
					row = append(row, cell{"", s})
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// with applies the codes of one SGR sequence. The monitor and tmux use the sixteen
// named colours only.
func (s style) with(codes string) style {
	for word := range strings.SplitSeq(codes, ";") {
		n, _ := strconv.Atoi(word) // an empty code is 0
		switch {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 27:
			s.reverse = false
		case n >= 30 && n <= 37:
			s.fg = basic(n - 30)
		case n >= 90 && n <= 97:
			s.fg = basic(n - 82)
		case n == 39:
			s.fg = ""
		case n >= 40 && n <= 47:
			s.bg = basic(n - 40)
		case n >= 100 && n <= 107:
			s.bg = basic(n - 92)
		case n == 49:
			s.bg = ""
		}
	}
	return s
}
