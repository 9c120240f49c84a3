package main

import (
	"fmt"
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

// exact returns the color after 38 or 48, "2;R;G;B" or "5;N", and how many codes it takes.
func exact(codes []string) (color string, taken int) {
	number := func(i int) int {
		n, _ := strconv.Atoi(codes[i])
		return n & 255
	}
	switch {
	case len(codes) >= 4 && codes[0] == "2":
		return fmt.Sprintf("#%02x%02x%02x", number(1), number(2), number(3)), 4
	case len(codes) < 2 || codes[0] != "5":
		return "", len(codes)
	}
	switch n := number(1); {
	case n < 16:
		return basic(n), 2
	case n < 232: // a cube of six levels
		level := func(by int) int {
			if l := (n - 16) / by % 6; l > 0 {
				return 55 + 40*l
			}
			return 0
		}
		return fmt.Sprintf("#%02x%02x%02x", level(36), level(6), level(1)), 2
	default:
		return "#" + strings.Repeat(fmt.Sprintf("%02x", 8+10*(n-232)), 3), 2
	}
}

// with applies the codes of one SGR sequence.
func (s style) with(sequence string) style {
	codes := strings.Split(sequence, ";")
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i]) // an empty code is 0
		switch {
		case n == 38 || n == 48:
			color, taken := exact(codes[i+1:])
			i += taken
			if n == 38 {
				s.fg = color
			} else {
				s.bg = color
			}
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
