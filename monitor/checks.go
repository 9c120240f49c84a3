package monitor

import (
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawChecks draws one row, or a title, the checks and the notes, newest first: findings
// and what the agent was told.
func drawChecks(c canvas, v summary.Summary, now time.Time) {
	if c.h == 1 {
		c.text(1, 0, plain, "checks ")
		drawChecksRow(c.columns(8, c.w-8), v.Checks)
		return
	}
	c.title(title{name: "Checks", key: "5"})
	c = c.rows(1, c.h-1)
	y := 0
	switch {
	case len(v.Checks) == 0 && len(v.Notes) == 0:
		c.text(1, 0, c.dim(), "none ran yet")
	case len(v.Checks) > c.h-min(len(v.Notes), 1):
		drawChecksRow(c.columns(1, c.w-1), v.Checks)
		y++
	default:
		for _, k := range v.Checks {
			x := c.text(1, y, c.tone(k.Tone), k.Mark+" ")
			c.text(x, y, c.tone(notGood(k.Tone)), termtext.Fit(k.Text, c.w-x-1))
			y++
		}
	}
	drawNotes(c.rows(y, c.h-y), v.Notes, now)
}

// drawNotes lists notes, newest first: in full if all fit, else one row each.
func drawNotes(c canvas, notes []view.Note, now time.Time) {
	const gutter = 11 // fits the time of a note of another day
	width, whole := max(c.w-gutter-1, 1), 0
	for _, n := range notes {
		whole += len(rows(n.Text, width))
	}
	y := 0
	for _, n := range slices.Backward(notes) {
		x := c.text(1, y, c.dim(), view.Clock(n.At, now)+" ")
		if whole > c.h {
			c.text(x, y, roleStyle(c, n.Role), termtext.Fit(n.Text, c.w-x-1))
			y++
			continue
		}
		start := 0
		for _, end := range rows(n.Text, width) {
			c.text(x, y, roleStyle(c, n.Role), n.Text[start:end])
			start = end
			y++
		}
	}
}

// drawChecksRow draws all checks in one row.
func drawChecksRow(c canvas, checks []summary.CheckLine) {
	x := 0
	for i, k := range checks {
		if i > 0 {
			x = c.text(x, 0, c.dim(), termtext.Fit(" · ", c.w-x-1))
		}
		x = c.text(x, 0, c.tone(notGood(k.Tone)), termtext.Fit(k.Text, c.w-x-1))
	}
}
