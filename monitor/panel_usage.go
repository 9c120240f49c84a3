package monitor

import (
	"cmp"
	"fmt"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawUsage draws one row, or a title, the gauges, the cost and the plot.
func drawUsage(c canvas.Canvas, v summary.Summary, r *view.Run) {
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
	if plot := c.Rows(y+1, c.H-y-1); plot.H >= 3 {
		drawPlot(plot, r)
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

// drawPlot draws what each iteration spent as a column of eighths of a row.
func drawPlot(c canvas.Canvas, r *view.Run) {
	room := max(c.W-2, 0)
	values, of := r.Spent(room)
	top := 0.0
	for _, n := range values {
		top = max(top, n)
	}
	if top <= 0 {
		text := "a chart of each iteration's cost appears here"
		if len(values) > 1 || r.End != nil {
			text = "the agent reports neither cost nor tokens"
		}
		c.Text(1, 1, c.Dim(), termtext.Fit(text, c.W-2))
		return
	}
	most := fmt.Sprintf("$%.2f", top)
	if of != "cost" {
		most = summary.Count(int64(top))
	}
	c.Text(1, 0, c.Dim(), termtext.Fit(fmt.Sprintf("%s per iteration, highest %s", of, most), c.W-2))
	marks := []rune(" ▁▂▃▄▅▆▇█")
	height := c.H - 1
	each := 1
	if len(values)*2 <= room {
		each = 2
	}
	for i, n := range values {
		eighths := int(n/top*float64(height*8) + 0.5)
		if n > 0 {
			eighths = max(eighths, 1)
		}
		for row := range height {
			part := min(max(eighths-(height-1-row)*8, 0), 8)
			if part > 0 {
				c.Text(1+i*each, 1+row, c.Tone(summary.Busy), string(marks[part]))
			}
		}
	}
}
