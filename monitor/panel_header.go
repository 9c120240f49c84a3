package monitor

import (
	"cmp"
	"strconv"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawHeader draws up to three rows: the state; what the run does; agent and model.
func drawHeader(c canvas.Canvas, v summary.Summary, notes noteSign) {
	style := c.Tone(v.Tone).Bold(true)
	state := " " + v.Mark + " " + v.Word + " "
	right := view.Join(" · ", v.Iteration, v.Elapsed)
	if termtext.Width(state)+termtext.Width(right)+12 > c.W {
		right = view.Join("/", numberOf(v.Number), numberOf(v.Most))
	}
	sign := notes.text()
	name := termtext.Fit(v.Project, max(c.W-termtext.Width(state)-termtext.Width(sign+right)-7, 6))
	x := c.Text(c.Text(0, 0, style.Reverse(true), state)+1, 0, plain.Bold(true), name)
	if sign != "" && right != "" {
		right = " · " + right
	}
	if at := c.W - termtext.Width(sign+right) - 1; at > x {
		c.Text(c.Text(at, 0, c.Tone(summary.Warn), sign), 0, plain, right)
	}
	news := v.What
	if len(v.Problems) > 0 {
		news = v.Problems[0]
	}
	x = c.Text(1, 1, c.Tone(v.Tone), termtext.Fit(news, c.W-2))
	identity, right := v.Identity, v.Rule
	advice := cmp.Or(v.Asked, v.Advice)
	if advice != "" && x+3+termtext.Width(advice) < c.W {
		c.Text(x, 1, c.Dim(), " · "+advice)
	} else if advice != "" {
		identity, right = canvas.FitEnd(advice, c.W-2), ""
	}
	x = c.Text(1, 2, c.Dim(), termtext.Fit(identity, c.W-2))
	if at := c.W - termtext.Width(right) - 1; at > x {
		c.Text(at, 2, c.Dim(), right)
	}
}

// numberOf is a number; empty for 0.
func numberOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
