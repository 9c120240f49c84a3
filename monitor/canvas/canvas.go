// Package canvas draws clean text on a part of a terminal screen.
package canvas

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"

	"ralph/logs/termtext"
)

// Canvas is a rectangle of the screen. Drawing is clipped to it, and text has no
// markup.
type Canvas struct {
	Screen     tcell.Screen
	X, Y, W, H int
	Theme      Theme
}

// Rows returns the part from row y, h rows high.
func (c Canvas) Rows(y, h int) Canvas {
	y = min(max(y, 0), c.H)
	c.Y, c.H = c.Y+y, min(max(h, 0), c.H-y)
	return c
}

// Columns returns the part from column x, w columns wide.
func (c Canvas) Columns(x, w int) Canvas {
	x = min(max(x, 0), c.W)
	c.X, c.W = c.X+x, min(max(w, 0), c.W-x)
	return c
}

// Text draws s from column x of row y and returns the column after it. It cuts what
// does not fit between two characters.
func (c Canvas) Text(x, y int, style tcell.Style, s string) int {
	if y < 0 || y >= c.H || x < 0 {
		return x
	}
	var (
		base  rune
		marks []rune
		width int
	)
	flush := func() {
		if width > 0 {
			c.Screen.SetContent(c.X+x, c.Y+y, base, marks, style)
			x += width
		}
		marks, width = nil, 0
	}
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			r = utf8.RuneError // text is clean already; this guards against mistakes
		}
		w := CellWidth(r)
		if w == 0 {
			if width > 0 {
				marks = append(marks, r)
			}
			continue
		}
		flush()
		if x+w > c.W {
			return x
		}
		base, width = r, w
	}
	flush()
	return x
}

// Title is the text in the rule above a panel.
type Title struct {
	Name, Key, Right string
	Focused          bool
}

// Title draws the rule above a panel, in the first row. Where there is no room, the last parts of Right are left out.
func (c Canvas) Title(t Title) {
	style := c.Dim()
	c.Text(0, 0, style, strings.Repeat("─", c.W))
	mark := tcell.StyleDefault.Bold(true)
	if t.Focused {
		mark = mark.Reverse(true)
	}
	x := c.Text(c.Text(1, 0, style, " "+t.Key+" "), 0, mark, t.Name)
	x = c.Text(x, 0, style, " ")
	for right, more := t.Right, true; right != "" && more; right, more = cutLast(right) {
		if w := termtext.Width(right); x+w+4 <= c.W {
			c.Text(c.W-w-3, 0, style, " "+right+" ")
			return
		}
	}
}

// cutLast returns a text without its last part; more is true if something is left.
func cutLast(text string) (rest string, more bool) {
	at := strings.LastIndex(text, " · ")
	return text[:max(at, 0)], at > 0
}

// First is the row of a list of n rows at which the screen begins, so that the selected one is on
// it and the list moves as little as possible. was is the row it began at before.
func (c Canvas) First(was, selected, n int) int {
	return max(min(was, selected, n-c.H), selected-c.H+1, 0)
}

// FitEnd cuts s to its last w cells: advice ends with the command to type.
func FitEnd(s string, w int) string {
	if over := termtext.Width(s) - w; over > 0 {
		return ansi.TruncateLeft(s, over+1, "…")
	}
	return s
}

// CellWidth returns how many cells a rune takes on the screen.
func CellWidth(r rune) int {
	if r >= ' ' && r <= '~' {
		return 1
	}
	// The two tables differ in a few rare symbols; the wider one never overflows.
	return max(runewidth.RuneWidth(r), termtext.Width(string(r)))
}
