package monitor

import (
	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// drawEnds draws one row, or a title and the bounds that end the run, nearest first. Why a run may be stuck
// has a row of its own if there is room.
func drawEnds(c canvas.Canvas, v summary.Summary) {
	b := v.Breaker
	if len(v.Ends) == 0 {
		v.Ends = []summary.End{{Text: "none yet"}}
	}
	if c.H == 1 {
		x := 1
		if b.Tone != summary.Good {
			x = c.Text(x, 0, c.Tone(b.Tone).Bold(true), "stuck: "+b.Stuck) + 1
		}
		x = c.Text(x, 0, plain, "limits ")
		drawFlow(c.Columns(x, c.W-x), v.Ends)
		return
	}
	c.Title(canvas.Title{Name: "Limits", Key: "3", Right: "stuck: " + b.Stuck})
	c = c.Rows(1, c.H-1)
	if b.Says != "" && b.Tone != summary.Good {
		c.Text(1, 0, c.Tone(b.Tone), termtext.Fit(b.Says, c.W-2))
		c = c.Rows(1, c.H-1)
	}
	drawFlow(c.Columns(1, c.W-1), v.Ends)
}

// flow lays bounds out in rows of a width.
func flow(all []summary.End, width int) (rows [][]summary.End) {
	x := 0
	for _, e := range all {
		w := termtext.Width(e.Text)
		if len(rows) == 0 || x+3+w > width-1 {
			rows, x = append(rows, nil), -3
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		x += 3 + w
	}
	return rows
}

// drawFlow draws bounds one after the other, and leaves out what does not fit.
func drawFlow(c canvas.Canvas, all []summary.End) {
	for y, row := range flow(all, c.W) {
		x := 0
		for i, e := range row {
			if i > 0 {
				x = c.Text(x, y, c.Dim(), " · ")
			}
			x = c.Text(x, y, c.Tone(e.Tone), termtext.Fit(e.Text, c.W-x-1))
		}
	}
}
