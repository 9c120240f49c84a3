package monitor

// This file draws the list of a run's iterations, newest first: how each ended, its
// checks, and how many findings it has.

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// drawIterations lists the iterations around the selected one. It formats only the visible rows.
func (r *runPage) drawIterations(c canvas.Canvas, _ summary.Summary) {
	m, focused := &r.u.model, r.focus == panelIterations
	n := len(m.Run.Iterations)
	c.Title(canvas.Title{Name: "Iterations", Key: "4", Right: fmt.Sprint(n), Focused: focused})
	c = c.Rows(1, c.H-1)
	if n == 0 {
		c.Text(1, 0, c.Dim(), "none yet")
		return
	}
	selected := n - 1 - r.index()
	r.listTop = c.First(r.listTop, selected, n)
	for y := 0; y < c.H && r.listTop+y < n; y++ {
		row := summary.Row(m, n-1-r.listTop-y, r.u.o.Now())
		drawIteration(c.Rows(y, 1), row, focused && r.listTop+y == selected)
	}
}

// minTitle is how many cells of its task's title a row keeps, if the title is that long. In less than minWhole cells for
// both, it keeps less, and the outcome loses its details.
const minTitle, minWhole = 14, 30

func drawIteration(c canvas.Canvas, r summary.IterationRow, selected bool) {
	style, mark := tcell.StyleDefault, c.Tone(r.Tone)
	if selected {
		style = style.Reverse(true)
		mark = style
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	}
	x := c.Text(1, 0, style, fmt.Sprintf("%4d ", r.Number))
	x = c.Text(x, 0, mark, r.Mark)
	x = c.Text(x, 0, style, fmt.Sprintf(" %8s  ", r.Duration))
	right := c.W - 1
	if r.Cost != "" && c.W >= 44 {
		right -= termtext.Width(r.Cost)
		c.Text(right, 0, style, r.Cost)
		right -= 2
	}
	if badge := badgeOf(r.Found, c.W); badge != "" {
		right -= termtext.Width(badge)
		c.Text(right, 0, c.Tone(summary.Warn).Reverse(!selected), badge)
		right--
	}
	if w := termtext.Width(r.Checks); w > 0 && right-w-1-x >= minTitle {
		drawIterationChecks(c, right-w, r.Checks, style)
		right -= w + 1
	}
	text, room := r.Text, right-x
	if r.Title != "" {
		if room < minWhole {
			text, _, _ = strings.Cut(text, ", ")
		}
		text = termtext.Fit(r.Title, max(room-termtext.Width(text)-3, min(minTitle, max(room/2-2, minTitle/2)))) + " · " + text
	}
	c.Text(x, 0, style, termtext.Fit(text, room))
}

// badgeOf is the number of findings, with a word if there is room.
func badgeOf(found, width int) string {
	switch {
	case found == 0:
		return ""
	case width >= 76:
		return " " + termtext.Count(found, "finding") + " "
	}
	return fmt.Sprintf(" !%d ", found)
}

// drawIterationChecks draws marks; those that failed stand out.
func drawIterationChecks(c canvas.Canvas, x int, marks string, style tcell.Style) {
	passed, failed, _ := strings.Cut(marks, " ")
	if failed != "" { // their numbers
		x = c.Text(x, 0, style, passed+" ")
		c.Text(x, 0, style.Bold(true), failed)
		return
	}
	for _, r := range marks {
		s := style
		if r == '✗' {
			s = s.Bold(true)
			if style == tcell.StyleDefault {
				s = c.Tone(summary.Bad)
			}
		}
		x = c.Text(x, 0, s, string(r))
	}
}
