package monitor

import (
	"cmp"
	"fmt"
	"slices"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawPlan draws one row; or a title, the bar, and the task or the turns side by side. It returns what
// is left for the list of tasks.
func drawPlan(c canvas.Canvas, v summary.Summary) (below canvas.Canvas) {
	p := v.Plan
	part := 0.0
	if p.Total > 0 {
		part = float64(p.Done) / float64(p.Total)
	}
	if c.H == 1 {
		x := c.Text(1, 0, plain, "plan ")
		if p.Total > 0 {
			w := max(min(c.W/4, 20), 6)
			c.Columns(x, w).Bar(part, c.Tone(summary.Good))
			x += w + 1
		}
		x = c.Text(x, 0, plain.Bold(true), cmp.Or(p.Counts, "none yet"))
		c.Text(x, 0, plain, termtext.Fit("  "+view.Prefix(p.Lastly(), p.Task), c.W-x-1))
		return c.Rows(1, 0)
	}
	right := p.Ahead
	if p.Fleet != "" {
		right = view.Join(" · ", "fleet: "+p.Fleet, p.Ahead)
	}
	c.Title(canvas.Title{Name: "Plan", Key: "1", Right: right})
	c = c.Rows(1, c.H-1)
	text := p.Counts
	if p.Total > 0 {
		text += fmt.Sprintf("  %.0f %%", part*100)
		w := max(c.W-termtext.Width(text)-4, 0)
		c.Columns(1, w).Bar(part, c.Tone(summary.Good))
		c.Text(w+3, 0, plain.Bold(true), text)
	} else {
		c.Text(1, 0, c.Dim(), cmp.Or(text, "none yet"))
	}
	under := p.Slots
	if len(under) == 0 && p.Task != "" {
		under = []string{p.Task}
	}
	under = within(under, max(c.H-1, 0))
	for y, text := range under {
		x := c.Text(1, y+1, c.Tone(summary.Busy), cmp.Or(p.Lastly(), "▸ "))
		c.Text(x, y+1, plain, termtext.Fit(text, c.W-x-1))
	}
	return c.Rows(1+len(under), c.H)
}

// within are lines about turns side by side in as many rows as there are: the last one counts those that are left out.
func within(lines []string, rows int) []string {
	switch more := len(lines) - rows + 1; {
	case more <= 1:
		return lines
	case rows < 2:
		return []string{fmt.Sprintf("%d turns side by side", len(lines))}[:rows]
	default:
		return append(slices.Clone(lines[:rows-1]), fmt.Sprintf("and %d more", more))
	}
}
