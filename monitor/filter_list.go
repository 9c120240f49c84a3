package monitor

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
)

// filterList is a list of rows that a person narrows by typing until one is left.
type filterList[R any] struct {
	Line     inputLine
	Shown    []R
	Selected int
	Find     func(typed string) []R // the rows for a text, which has single spaces only
	top      int
}

// Narrow finds the rows anew, and selects the first.
func (l *filterList[R]) Narrow() {
	l.Shown, l.Selected, l.top = l.Find(termtext.Unwrap(l.Line.Text)), 0, 0
}

// Row is the selected one; false: there is none.
func (l *filterList[R]) Row() (row R, ok bool) {
	if l.Selected < 0 || l.Selected >= len(l.Shown) {
		return row, false
	}
	return l.Shown[l.Selected], true
}

// Scroll moves the selection.
func (l *filterList[R]) Scroll(by int) {
	l.Selected = min(max(l.Selected+by, 0), max(len(l.Shown)-1, 0))
}

// Click selects the row y of the list.
func (l *filterList[R]) Click(_, y int) {
	if at := l.top + y; at < len(l.Shown) {
		l.Selected = at
	}
}

// Key handles a key. All but those that move belong to the text.
func (l *filterList[R]) Key(e *tcell.EventKey) inputEdge {
	switch keyName(e) {
	case "up", "backtab":
		l.Scroll(-1)
	case "down", "tab":
		l.Scroll(1)
	case "pgup":
		l.Scroll(-10)
	case "pgdn":
		l.Scroll(10)
	default:
		before := l.Line.Text
		edge := l.Line.Key(e)
		if edge == inputTyping && l.Line.Text != before {
			l.Narrow()
		}
		return edge
	}
	return inputTyping
}

// Draw draws the rows around the selected one.
func (l *filterList[R]) Draw(c canvas.Canvas, draw func(c canvas.Canvas, row R, style tcell.Style)) {
	l.top = c.First(l.top, l.Selected, len(l.Shown))
	for y := 0; y < c.H && l.top+y < len(l.Shown); y++ {
		style := tcell.StyleDefault
		if l.top+y == l.Selected {
			style = style.Reverse(true)
			c.Text(0, y, style, strings.Repeat(" ", c.W))
		}
		draw(c.Rows(y, 1), l.Shown[l.top+y], style)
	}
}
