package monitor

import (
	"strings"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

// drawEnds draws one row, or a title and the bounds that end the run, nearest first. The
// breaker's reason has a row of its own if there is room.
func drawEnds(c canvas.Canvas, v summary.Summary) {
	b := v.Breaker
	all, label := boundsOf(v), "Ends when"
	if v.Over {
		label = "Ended with"
	}
	state := "breaker " + b.State
	if c.H == 1 {
		x := 1
		if b.Tone != summary.Good {
			x = c.Text(x, 0, c.Tone(b.Tone).Bold(true), state) + 1
		}
		x = c.Text(x, 0, plain, strings.ToLower(label)+" ")
		drawFlow(c.Columns(x, c.W-x), all)
		return
	}
	c.Title(canvas.Title{Name: label, Key: "3", Right: state})
	c = c.Rows(1, c.H-1)
	if b.Reason != "" && b.Tone != summary.Good {
		c.Text(1, 0, c.Tone(b.Tone), termtext.Fit(b.State+": "+b.Reason, c.W-2))
		c = c.Rows(1, c.H-1)
	}
	drawFlow(c.Columns(1, c.W-1), all)
}

// boundsOf are the bounds that end the run.
func boundsOf(v summary.Summary) []summary.End {
	if len(v.Ends) == 0 { // no run yet
		return []summary.End{{Text: v.Breaker.Counters}}
	}
	return v.Ends
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
