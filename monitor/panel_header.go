package monitor

import (
	"cmp"
	"strconv"
	"strings"

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
	left := []canvas.Piece{canvas.In(style.Reverse(true), state), canvas.In(plain, " "),
		canvas.In(plain.Bold(true), name)}
	c.Ends(0, left, []canvas.Piece{canvas.In(c.Tone(summary.Warn), sign),
		canvas.In(plain, strings.Repeat(" · ", min(len(sign), len(right), 1))+right+" ")})
	news := v.What
	if len(v.Problems) > 0 {
		news = v.Problems[0]
	}
	x := c.Text(1, 1, c.Tone(v.Tone), termtext.Fit(news, c.W-2))
	identity, right := v.Identity, v.Rule
	advice := cmp.Or(v.Asked, v.Advice)
	if advice != "" && x+3+termtext.Width(advice) < c.W {
		c.Text(x, 1, c.Dim(), " · "+advice)
	} else if advice != "" {
		identity, right = canvas.FitEnd(advice, c.W-2), ""
	}
	c.Ends(2, []canvas.Piece{canvas.In(plain, " "), canvas.In(c.Dim(), termtext.Fit(identity, c.W-2))},
		[]canvas.Piece{canvas.In(c.Dim(), right), canvas.In(plain, " ")})
}

// numberOf is a number; empty for 0.
func numberOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
