package monitor

// This file draws the iterations of a run: as a list, newest first, and as a strip. A row of the list says how an
// iteration ended, with its checks and how many findings it has.

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

// timelinePage lists the iterations. Its selection is that of the run's screen.
type timelinePage struct {
	u    *ui
	top  int // the first row
	rows int
}

// openTimeline opens the page.
func (u *ui) openTimeline() { u.open("timeline", &timelinePage{u: u}) }

// Keys are the keys of the page.
func (p *timelinePage) Keys() []binding {
	return slices.Concat(p.u.run.iterationKeys(), moveKeys(allUp, p.Scroll, func() int { return max(p.rows-1, 1) }))
}

// Scroll moves the selection by rows.
func (p *timelinePage) Scroll(by int) {
	p.u.run.choose(p.u.run.index() - by)
}

// Click selects a row.
func (p *timelinePage) Click(_, y int) {
	if n := len(p.u.model.Run.Iterations); p.top+y < n {
		p.u.run.choose(n - 1 - p.top - y)
	}
}

// Draw draws the rows around the selected one. It formats only the visible ones.
func (p *timelinePage) Draw(c canvas.Canvas) {
	m := &p.u.model
	last := len(m.Run.Iterations) - 1
	c.Title(canvas.Title{Name: "Timeline", Key: "T", Right: termtext.Count(last+1, "iteration")})
	c = c.Rows(1, c.H-1)
	if last < 0 {
		c.Text(1, 0, c.Dim(), "none yet")
		return
	}
	selected := last - p.u.run.index()
	p.top, p.rows = c.First(p.top, selected, last+1), c.H
	for y := 0; y < c.H && p.top+y <= last; y++ {
		drawIteration(c.Rows(y, 1), summary.Row(m, last-p.top-y, p.u.o.Now()),
			p.top+y == selected && (p.u.run.selected > 0 || p.u.front().page == p))
	}
}

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
	if r.Found > 0 {
		badge := " " + termtext.Count(r.Found, "finding") + " "
		if c.W < 76 {
			badge = fmt.Sprintf(" !%d ", r.Found)
		}
		right -= len(badge)
		c.Text(right, 0, c.Tone(summary.Warn).Reverse(!selected), badge)
		right--
	}
	if w := termtext.Width(r.Checks); w > 0 && right-w-1-x >= 14 {
		if strings.Contains(r.Checks, "✗") && !selected {
			mark = c.Tone(summary.Bad)
		} else {
			mark = style
		}
		c.Text(right-w, 0, mark, r.Checks)
		right -= w + 1
	}
	text, room := r.Text, right-x
	if r.Title != "" { // the row keeps the name of its task before how that went
		if room < 30 {
			text, _, _ = strings.Cut(text, ", ")
		}
		text = termtext.Fit(r.Title, max(room-termtext.Width(text)-3, room*3/5)) + " · " + text
	}
	c.Text(x, 0, style, termtext.Fit(text, room))
}

// cell is an iteration, by its index, in a column of the strip.
type cell struct{ index, x int }

// longWait is how long a run does nothing before the strip shows a gap.
const longWait = time.Minute

// stripOf lays the latest iterations out in a width, or those around the selected one.
func stripOf(r *view.Run, selected, width int) (all []cell) {
	last := min(len(r.Iterations)-1, max(selected+width/4, width/2-1))
	for i, x := last, 0; i >= 0 && x < width; i-- {
		all = append(all, cell{i, x})
		x += 2
		if i > 0 && !r.Iterations[i-1].Ended.IsZero() && r.Iterations[i].StartedAt.Sub(r.Iterations[i-1].Ended) > longWait {
			x += 2
		}
	}
	for i, end := 0, all[len(all)-1].x; i < len(all); i++ {
		all[i].x = end - all[i].x
	}
	return all
}

// drawStrip draws one cell for each iteration, and what the selected one came to.
func (r *runPage) drawStrip(c canvas.Canvas) {
	m, now := &r.u.model, r.u.o.Now()
	r.cells = nil
	c.Text(1, 0, c.Dim(), "time")
	at, width := c.Columns(labels+1, c.W-labels-1), c.W-labels-2
	if len(m.Run.Iterations) == 0 {
		at.Text(0, 0, c.Dim(), "no iteration yet")
		return
	}
	if c.H == 1 {
		width = c.W / 3
	}
	for _, one := range stripOf(&m.Run, r.index(), max(width, 1)) {
		row := summary.Row(m, one.index, now)
		style := c.Tone(row.Tone)
		if one.index == r.index() {
			style = style.Reverse(true)
		}
		at.Text(one.x, 0, style, row.Mark)
		r.cells = append(r.cells, cell{one.index, at.X + one.x})
	}
	selected := c.Rows(1, 1).Columns(labels-4, c.W)
	if c.H == 1 {
		selected = c.Columns(r.cells[0].x-c.X+1, c.W)
	}
	drawIteration(selected, summary.Row(m, r.index(), now), false)
}
