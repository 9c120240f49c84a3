package monitor

// This file draws the list of a run's iterations, newest first: how each ended, its
// checks, and how many findings it has. Successive iterations that went alike share a row.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// group is one row: the iterations from index first down to index last.
type group struct{ first, last int }

// groups lists the rows, newest first.
func groups(r *view.Run) []group {
	var all []group
	for i := len(r.Iterations) - 1; i >= 0; i-- {
		g := group{i, i}
		for i > 0 && r.Iterations[i].Repeats(&r.Iterations[i-1]) {
			i--
		}
		g.last = i
		all = append(all, g)
	}
	return all
}

// at is the row of the iteration with an index.
func at(all []group, i int) int {
	return max(slices.IndexFunc(all, func(g group) bool { return i <= g.first && i >= g.last }), 0)
}

// moveIteration is the index of the iteration that is a number of rows away from one.
func moveIteration(r *view.Run, i, by int) int {
	all := groups(r)
	if len(all) == 0 {
		return -1
	}
	return all[min(max(at(all, i)+by, 0), len(all)-1)].first
}

// drawIterations lists the iterations around the selected one. It formats only the visible rows.
func (r *runPage) drawIterations(c canvas.Canvas, _ summary.Summary) {
	m, focused := &r.u.model, r.focus == panelIterations
	c.Title(canvas.Title{Name: "Iterations", Key: "4", Right: fmt.Sprint(len(m.Run.Iterations)), Focused: focused})
	c = c.Rows(1, c.H-1)
	all := groups(&m.Run)
	if len(all) == 0 {
		c.Text(1, 0, c.Dim(), "none yet")
		return
	}
	selected := at(all, r.index())
	r.listTop = c.First(r.listTop, selected, len(all))
	for y := 0; y < c.H && r.listTop+y < len(all); y++ {
		g := all[r.listTop+y]
		drawIteration(c.Rows(y, 1), summary.RowOf(m, g.first, g.last, r.u.o.Now()), focused && r.listTop+y == selected)
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
	if r.Times > 1 {
		x = c.Text(x, 0, style.Bold(true), fmt.Sprintf("×%d", r.Times))
		x = c.Text(x, 0, style, " ")
	}
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
