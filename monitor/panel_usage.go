package monitor

import (
	"cmp"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawUsage draws one row, or a title, the gauges and the cost.
func drawUsage(c canvas.Canvas, v summary.Summary) {
	if c.H == 1 {
		drawUsageRow(c, v)
		return
	}
	c.Title(canvas.Title{Name: "API usage", Key: "2"})
	c = c.Rows(1, c.H-1)
	label := 6
	for _, g := range v.Gauges {
		label = max(label, min(termtext.Width(g.Label), 16))
	}
	width := 24
	for _, g := range v.Gauges {
		width = min(width, c.W-label-termtext.Width(g.Value)-termtext.Width(g.Note)-7)
	}
	y := 0
	for _, g := range v.Gauges {
		if y >= c.H-1 {
			break
		}
		drawGauge(c.Rows(y, 1), label, max(width, 5), g)
		y++
	}
	x := c.Text(1, y, c.Dim(), "cost")
	x = c.Text(max(x+1, label+2), y, plain.Bold(true), cmp.Or(v.Cost, "unknown"))
	if v.Tokens != "" {
		c.Text(x, y, c.Dim(), termtext.Fit(" · "+v.Tokens, c.W-x-1))
	}
}

func drawUsageRow(c canvas.Canvas, v summary.Summary) {
	x := 1
	for i, g := range v.Gauges {
		text := g.Label + " " + g.Value
		if i == 1 && g.Idle { // no tokens
			continue
		}
		if i > 0 {
			text = " · " + text
		}
		if x+termtext.Width(text) > c.W-1 {
			return
		}
		x = c.Text(x, 0, c.Tone(notGood(g.Tone)), text)
	}
	if text := view.Prefix(" · ", v.Cost); x+termtext.Width(text) < c.W {
		c.Text(x, 0, plain, text)
	}
}

// notGood removes the colour of good news, so that bad news stands out.
func notGood(t summary.Tone) summary.Tone {
	if t == summary.Good {
		return summary.Calm
	}
	return t
}

func drawGauge(c canvas.Canvas, label, width int, g summary.Gauge) {
	c.Text(1, 0, c.Dim(), termtext.Fit(g.Label, label))
	x := label + 2
	if g.Part >= 0 {
		c.Columns(x, width).Bar(g.Part, c.Tone(g.Tone))
		x += width + 1
	}
	x = c.Text(x, 0, c.Tone(notGood(g.Tone)).Bold(true), g.Value)
	c.Text(x+2, 0, c.Dim(), termtext.Fit(g.Note, c.W-x-3))
}
