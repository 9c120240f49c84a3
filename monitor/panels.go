package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

var plain = tcell.StyleDefault

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

// drawEnds draws one row, or a title and the bounds that end the run, nearest first. The
// breaker's reason has a row of its own if there is room.
func drawEnds(c canvas.Canvas, v summary.Summary) {
	b := v.Breaker
	all, label := boundsOf(v), "Ends when"
	if v.Plan.Last {
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

// flowRows is how many rows drawFlow fills.
func flowRows(all []summary.End, width int) int {
	x, rows := 0, min(len(all), 1)
	for _, e := range all {
		w := termtext.Width(e.Text)
		if x > 0 && x+3+w > width-1 {
			x, rows = 0, rows+1
		}
		x += w + 3*min(x, 1)
	}
	return rows
}

// drawFlow draws bounds one after the other, and leaves out what does not fit.
func drawFlow(c canvas.Canvas, all []summary.End) {
	x, y := 0, 0
	for _, e := range all {
		w := termtext.Width(e.Text)
		if x > 0 && x+3+w > c.W-1 {
			x, y = 0, y+1
		}
		if y >= c.H {
			return
		}
		if x > 0 {
			x = c.Text(x, y, c.Dim(), " · ")
		}
		x = c.Text(x, y, c.Tone(e.Tone), termtext.Fit(e.Text, c.W-x-1))
	}
}
