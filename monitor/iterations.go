package monitor

// This file draws the list of a run's iterations, newest first: how each ended, its
// checks, and how many findings it has. Successive iterations that went alike share a row.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// iterationsLook is the position in the list.
type iterationsLook struct {
	Selected int // iteration, 0 is the newest
	Top      int // the row at which the list began before
	Focused  bool
	Now      time.Time
}

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

// moveIteration is the iteration that is selected after a move by a number of rows.
func moveIteration(r *view.Run, selected, by int) int {
	all, n := groups(r), len(r.Iterations)
	if n == 0 {
		return 0
	}
	row := min(max(at(all, n-1-selected)+by, 0), len(all)-1)
	return n - 1 - all[row].first
}

// drawIterations lists the iterations around the selected one, and returns the row at which it begins. It formats
// only the visible rows.
func drawIterations(c canvas.Canvas, m *view.Model, look iterationsLook) (top int) {
	n := len(m.Run.Iterations)
	c.Title(canvas.Title{Name: "Iterations", Key: "4", Right: fmt.Sprint(n), Focused: look.Focused})
	c = c.Rows(1, c.H-1)
	if n == 0 {
		c.Text(1, 0, c.Dim(), "none yet")
		return 0
	}
	all := groups(&m.Run)
	selected := at(all, n-1-min(max(look.Selected, 0), n-1))
	first := c.First(look.Top, selected, len(all))
	for y := 0; y < c.H && first+y < len(all); y++ {
		g := all[first+y]
		draw(c.Rows(y, 1), summary.RowOf(m, g.first, g.last, look.Now), look.Focused && first+y == selected)
	}
	return first
}

// iterationAt is the iteration at a row of all; where there is none, the selected one.
func iterationAt(r *view.Run, selected, row int) int {
	if all := groups(r); row >= 0 && row < len(all) {
		return len(r.Iterations) - 1 - all[row].first
	}
	return selected
}

// A row shows at least minTitle cells of its task's title if the title has minTitled cells or more.
const minTitle, minTitled = 14, 28

// In less room a short outcome, such as "done", leaves its details to a title of at least minShort cells.
const minShort = 8

func draw(c canvas.Canvas, r summary.IterationRow, selected bool) {
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
	if r.Title != "" && room >= minTitled {
		title := termtext.Fit(r.Title, max(room-termtext.Width(text)-3, minTitle))
		text = title + " · " + text
	}
	if word, _, cut := strings.Cut(r.Text, ", "); r.Title != "" && room < minTitled && cut &&
		room-termtext.Width(word)-3 >= minShort {
		text = termtext.Fit(r.Title, room-termtext.Width(word)-3) + " · " + word
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
