package monitor

import (
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"

	"ralph/logs/termtext"
	"ralph/state/view/summary"
)

// canvas is a rectangle of the screen. Drawing is clipped to it, and text has no
// markup.
type canvas struct {
	screen     tcell.Screen
	x, y, w, h int
	colors     bool
}

// rows returns the part from row y, h rows high.
func (c canvas) rows(y, h int) canvas {
	y = min(max(y, 0), c.h)
	c.y, c.h = c.y+y, min(max(h, 0), c.h-y)
	return c
}

// columns returns the part from column x, w columns wide.
func (c canvas) columns(x, w int) canvas {
	x = min(max(x, 0), c.w)
	c.x, c.w = c.x+x, min(max(w, 0), c.w-x)
	return c
}

// text draws s from column x of row y and returns the column after it. It cuts what
// does not fit between two characters.
func (c canvas) text(x, y int, style tcell.Style, s string) int {
	if y < 0 || y >= c.h || x < 0 {
		return x
	}
	var (
		base  rune
		marks []rune
		width int
	)
	flush := func() {
		if width > 0 {
			c.screen.SetContent(c.x+x, c.y+y, base, marks, style)
			x += width
		}
		marks, width = nil, 0
	}
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			r = utf8.RuneError // text is clean already; this guards against mistakes
		}
		w := cellWidth(r)
		if w == 0 {
			if width > 0 {
				marks = append(marks, r)
			}
			continue
		}
		flush()
		if x+w > c.w {
			return x
		}
		base, width = r, w
	}
	flush()
	return x
}

// ends draws left and right on one row. If both do not fit, right is dropped.
func (c canvas) ends(y int, left, right []piece) {
	x := c.pieces(0, y, left)
	w := 0
	for _, p := range right {
		w += termtext.Width(p.text)
	}
	if x+1+w <= c.w {
		c.pieces(c.w-w, y, right)
	}
}

// piece is a run of text of one style.
type piece struct {
	text  string
	style tcell.Style
}

func (c canvas) pieces(x, y int, all []piece) int {
	for _, p := range all {
		x = c.text(x, y, p.style, p.text)
	}
	return x
}

// bar draws a gauge in the first row. Its parts differ in the character, not only in
// colour.
func (c canvas) bar(part float64, style tcell.Style) {
	w := c.w
	full := min(int(part*float64(w)+0.5), w)
	if part > 0 && full == 0 {
		full = 1
	}
	if part < 1 && full == w {
		full = w - 1
	}
	if w <= 0 {
		return
	}
	c.text(c.text(0, 0, style, strings.Repeat("█", full)), 0, c.dim(), strings.Repeat("░", w-full))
}

// title is the text in the rule above a panel.
type title struct {
	name, key, right string
	focused          bool
	file             string // that the panel shows; relative to the project if there is room
}

func (c canvas) title(t title) {
	style := c.dim()
	c.text(0, 0, style, strings.Repeat("─", c.w))
	mark := tcell.StyleDefault.Bold(true)
	if t.focused {
		mark = mark.Reverse(true)
	}
	x := c.text(1, 0, style, " "+t.key+" ")
	x = c.text(x, 0, mark, t.name)
	x = c.text(x, 0, style, " ")
	if w := termtext.Width(t.right); w > 0 && x+w+4 <= c.w {
		c.text(c.w-w-3, 0, style, " "+t.right+" ")
	}
}

func (c canvas) dim() tcell.Style { return tcell.StyleDefault.Dim(true) }

// tone returns the style of a tone. The colours come from the terminal's palette,
// which is readable on its background. Words, marks and weight say the same without
// colours.
func (c canvas) tone(t summary.Tone) tcell.Style {
	style := tcell.StyleDefault
	if t == summary.Bad || t == summary.Warn {
		style = style.Bold(true)
	}
	if !c.colors {
		return style
	}
	switch t {
	case summary.Good:
		return style.Foreground(tcell.ColorGreen)
	case summary.Busy:
		return style.Foreground(tcell.ColorTeal)
	case summary.Warn:
		return style.Foreground(tcell.ColorOlive)
	case summary.Bad:
		return style.Foreground(tcell.ColorMaroon)
	}
	return style
}

// fitEnd keeps the last w cells of s: advice ends with the command to type.
func fitEnd(s string, w int) string {
	over := termtext.Width(s) - w
	if over <= 0 {
		return s
	}
	return "…" + s[afterCells(s, over+1):]
}

// cellWidth returns how many cells a rune takes on the screen.
func cellWidth(r rune) int {
	if r >= ' ' && r <= '~' {
		return 1
	}
	// The two tables differ in a few rare symbols; the wider one never overflows.
	return max(runewidth.RuneWidth(r), termtext.Width(string(r)))
}
