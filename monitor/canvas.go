package monitor

import (
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"

	"ralph/logs/termtext"
	"ralph/state/view/summary"
)

// canvas is a rectangle of the screen. Nothing drawn on it leaves it, and text
// is only ever text: there is no markup.
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

// text draws s from column x of row y and returns the column after it. What
// does not fit is cut at a whole character.
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
			r = utf8.RuneError // text is cleaned where it comes in; this is the last door
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

// ends draws left and right on one row; right gives way when both do not fit.
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

// bar fills the first row with a gauge. The filled part is a character, not a colour.
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

// title draws the rule above a panel.
func (c canvas) title(name, key, right string, focused bool) {
	style := c.dim()
	c.text(0, 0, style, strings.Repeat("─", c.w))
	mark := tcell.StyleDefault.Bold(true)
	if focused {
		mark = mark.Reverse(true)
	}
	x := c.text(1, 0, style, " "+key+" ")
	x = c.text(x, 0, mark, name)
	x = c.text(x, 0, style, " ")
	if right != "" && x+termtext.Width(right)+4 <= c.w {
		c.text(c.w-termtext.Width(right)-3, 0, style, " "+right+" ")
	}
}

func (c canvas) dim() tcell.Style { return tcell.StyleDefault.Dim(true) }

// tone gives the style of a feeling. Colours are of the terminal's own
// palette, which is readable on its own background; without colours words,
// marks and weight say the same.
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

// fitEnd cuts s to its last w cells: advice ends with what to type.
func fitEnd(s string, w int) string {
	over := termtext.Width(s) - w
	if over <= 0 {
		return s
	}
	return "…" + s[afterCells(s, over+1):]
}

// cellWidth is the number of cells that the screen gives to a rune.
func cellWidth(r rune) int {
	if r >= ' ' && r <= '~' {
		return 1
	}
	return runewidth.RuneWidth(r)
}
