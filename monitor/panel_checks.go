package monitor

import (
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawChecks draws one row, or a title, the checks and the notes, newest first: findings
// and what the agent was told.
func drawChecks(c canvas.Canvas, v summary.Summary, now time.Time) {
	if c.H == 1 {
		c.Text(1, 0, plain, "checks ")
		drawChecksRow(c.Columns(8, c.W-8), v.Checks)
		return
	}
	c.Title(canvas.Title{Name: "Checks", Key: "5"})
	c = c.Rows(1, c.H-1)
	y := 0
	switch {
	case len(v.Checks) == 0 && len(v.Notes) == 0:
		c.Text(1, 0, c.Dim(), "none ran yet")
	case len(v.Checks) > c.H-min(len(v.Notes), 1):
		drawChecksRow(c.Columns(1, c.W-1), v.Checks)
		y++
	default:
		for _, k := range v.Checks {
			x := c.Text(1, y, c.Tone(k.Tone), k.Mark+" ")
			c.Text(x, y, c.Tone(notGood(k.Tone)), termtext.Fit(k.Text, c.W-x-1))
			y++
		}
	}
	drawNotes(c.Rows(y, c.H-y), v.Notes, now)
}

// drawNotes lists notes, newest first: in full if all fit, else one row each.
func drawNotes(c canvas.Canvas, notes []view.Note, now time.Time) {
	const gutter = 11 // fits the time of a note of another day
	width, whole := max(c.W-gutter-1, 1), 0
	for _, n := range notes {
		whole += len(rows(n.Text, width))
	}
	y := 0
	for _, n := range slices.Backward(notes) {
		x := c.Text(1, y, c.Dim(), view.Clock(n.At, now)+" ")
		if whole > c.H {
			c.Text(x, y, c.Role(n.Role), termtext.Fit(n.Text, c.W-x-1))
			y++
			continue
		}
		start := 0
		for _, end := range rows(n.Text, width) {
			c.Text(x, y, c.Role(n.Role), n.Text[start:end])
			start = end
			y++
		}
	}
}

// drawChecksRow draws all checks in one row.
func drawChecksRow(c canvas.Canvas, checks []summary.CheckLine) {
	x := 0
	for i, k := range checks {
		if i > 0 {
			x = c.Text(x, 0, c.Dim(), termtext.Fit(" · ", c.W-x-1))
		}
		x = c.Text(x, 0, c.Tone(notGood(k.Tone)), termtext.Fit(k.Text, c.W-x-1))
	}
}
