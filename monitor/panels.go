package monitor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/state/view"
	"ralph/state/view/summary"
)

var plain = tcell.StyleDefault

// drawHeader draws up to three rows: the state; what the run does; agent and model.
func drawHeader(c canvas, v summary.Summary) {
	style := c.tone(v.Tone).Bold(true)
	state := " " + v.Mark + " " + v.Word + " "
	right := view.Join(" · ", v.Iteration, v.Elapsed)
	if termtext.Width(state)+termtext.Width(right)+12 > c.w {
		right = strings.Replace(strings.TrimPrefix(v.Iteration, "iteration "), " of ", "/", 1)
	}
	name := termtext.Fit(v.Project, max(c.w-termtext.Width(state)-termtext.Width(right)-4, 6))
	left := []piece{{state, style.Reverse(true)}, {" ", plain}, {name, plain.Bold(true)}}
	c.ends(0, left, []piece{{right, plain}, {" ", plain}})
	news := v.What
	if len(v.Problems) > 0 {
		news = v.Problems[0]
	}
	x := c.text(1, 1, c.tone(v.Tone), termtext.Fit(news, c.w-2))
	identity, right := v.Identity, v.Rule
	advice := cmp.Or(v.Asked, v.Advice)
	if advice != "" && x+3+termtext.Width(advice) < c.w {
		c.text(x, 1, c.dim(), " · "+advice)
	} else if advice != "" {
		identity, right = fitEnd(advice, c.w-2), ""
	}
	c.ends(2, []piece{{" ", plain}, {termtext.Fit(identity, c.w-2), c.dim()}}, []piece{{right, c.dim()}, {" ", plain}})
}

// drawPlan draws one row; or a title, the bar, and the task or the turns side by side.
func drawPlan(c canvas, v summary.Summary) {
	p := v.Plan
	part := 0.0
	if p.Total > 0 {
		part = float64(p.Done) / float64(p.Total)
	}
	if c.h == 1 {
		x := c.text(1, 0, plain, "plan ")
		if p.Total > 0 {
			w := max(min(c.w/4, 20), 6)
			c.columns(x, w).bar(part, c.tone(summary.Good))
			x += w + 1
		}
		x = c.text(x, 0, plain.Bold(true), cmp.Or(p.Counts, "none yet"))
		c.text(x, 0, plain, termtext.Fit("  "+p.Task, c.w-x-1))
		return
	}
	c.title(title{name: "Plan", key: "1"})
	c = c.rows(1, c.h-1)
	text := p.Counts
	if p.Total > 0 {
		text += fmt.Sprintf("  %.0f %%", part*100)
		w := max(c.w-termtext.Width(text)-4, 0)
		c.columns(1, w).bar(part, c.tone(summary.Good))
		c.text(w+3, 0, plain.Bold(true), text)
	} else {
		c.text(1, 0, c.dim(), cmp.Or(text, "none yet"))
	}
	under := p.Slots
	if len(under) == 0 && p.Task != "" {
		under = []string{p.Task}
	}
	for y, text := range under[:min(len(under), max(c.h-1, 0))] {
		c.text(c.text(1, y+1, c.tone(summary.Busy), "▸ "), y+1, plain, termtext.Fit(text, c.w-4))
	}
}

// drawUsage draws one row, or a title, the gauges, the cost and the plot.
func drawUsage(c canvas, v summary.Summary, r *view.Run) {
	if c.h == 1 {
		drawUsageRow(c, v)
		return
	}
	c.title(title{name: "API usage", key: "2"})
	c = c.rows(1, c.h-1)
	label := 6
	for _, g := range v.Gauges {
		label = max(label, min(termtext.Width(g.Label), 16))
	}
	width := 24
	for _, g := range v.Gauges {
		width = min(width, c.w-label-termtext.Width(g.Value)-termtext.Width(g.Note)-7)
	}
	y := 0
	for _, g := range v.Gauges {
		if y >= c.h-1 {
			break
		}
		drawGauge(c.rows(y, 1), label, max(width, 5), g)
		y++
	}
	x := c.text(1, y, c.dim(), "cost")
	x = c.text(max(x+1, label+2), y, plain.Bold(true), cmp.Or(v.Cost, "unknown"))
	if v.Tokens != "" {
		c.text(x, y, c.dim(), termtext.Fit(" · "+v.Tokens, c.w-x-1))
	}
	if plot := c.rows(y+1, c.h-y-1); plot.h >= 3 {
		drawPlot(plot, r)
	}
}

func drawUsageRow(c canvas, v summary.Summary) {
	x := 1
	for i, g := range v.Gauges {
		text := g.Label + " " + g.Value
		if i == 1 && g.Part < 0 && strings.HasPrefix(g.Value, "0 ") {
			continue
		}
		if i > 0 {
			text = " · " + text
		}
		if x+termtext.Width(text) > c.w-1 {
			return
		}
		x = c.text(x, 0, c.tone(notGood(g.Tone)), text)
	}
	if text := view.Prefix(" · ", v.Cost); x+termtext.Width(text) < c.w {
		c.text(x, 0, plain, text)
	}
}

// notGood removes the colour of good news, so that bad news stands out.
func notGood(t summary.Tone) summary.Tone {
	if t == summary.Good {
		return summary.Calm
	}
	return t
}

func drawGauge(c canvas, label, width int, g summary.Gauge) {
	c.text(1, 0, c.dim(), termtext.Fit(g.Label, label))
	x := label + 2
	if g.Part >= 0 {
		c.columns(x, width).bar(g.Part, c.tone(g.Tone))
		x += width + 1
	}
	x = c.text(x, 0, c.tone(notGood(g.Tone)).Bold(true), g.Value)
	c.text(x+2, 0, c.dim(), termtext.Fit(g.Note, c.w-x-3))
}

// drawPlot draws what each iteration spent as a column of eighths of a row.
func drawPlot(c canvas, r *view.Run) {
	room := max(c.w-2, 0)
	values, of := r.Spent(room)
	top := 0.0
	for _, n := range values {
		top = max(top, n)
	}
	if top <= 0 {
		c.text(1, 1, c.dim(), "a chart of each iteration's cost appears here")
		return
	}
	most := fmt.Sprintf("$%.2f", top)
	if of != "cost" {
		most = summary.Count(int64(top))
	}
	c.text(1, 0, c.dim(), termtext.Fit(fmt.Sprintf("%s per iteration, highest %s", of, most), c.w-2))
	marks := []rune(" ▁▂▃▄▅▆▇█")
	height := c.h - 1
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
				c.text(1+i*each, 1+row, c.tone(summary.Busy), string(marks[part]))
			}
		}
	}
}

// drawEnds draws one row, or a title and the bounds that end the run, nearest first. The
// breaker's reason has a row of its own if there is room.
func drawEnds(c canvas, v summary.Summary) {
	b := v.Breaker
	all := v.Ends
	if len(all) == 0 { // no run yet, or one of an older ralph
		all = []summary.End{{Text: b.Counters}}
	}
	state := "breaker " + b.State
	if c.h == 1 {
		x := 1
		if b.Tone != summary.Good {
			x = c.text(x, 0, c.tone(b.Tone).Bold(true), state) + 1
		}
		x = c.text(x, 0, plain, "ends when ")
		drawFlow(c.columns(x, c.w-x), all)
		return
	}
	c.title(title{name: "Ends when", key: "3", right: state})
	c = c.rows(1, c.h-1)
	if b.Reason != "" && b.Tone != summary.Good {
		c.text(1, 0, c.tone(b.Tone), termtext.Fit(b.State+": "+b.Reason, c.w-2))
		c = c.rows(1, c.h-1)
	}
	drawFlow(c.columns(1, c.w-1), all)
}

// drawFlow draws bounds one after the other, and leaves out what does not fit.
func drawFlow(c canvas, all []summary.End) {
	x, y := 0, 0
	for _, e := range all {
		w := termtext.Width(e.Text)
		if x > 0 && x+3+w > c.w-1 {
			x, y = 0, y+1
		}
		if y >= c.h {
			return
		}
		if x > 0 {
			x = c.text(x, y, c.dim(), " · ")
		}
		x = c.text(x, y, c.tone(e.Tone), termtext.Fit(e.Text, c.w-x-1))
	}
}

// drawIterations lists the iterations, newest first, around the selected one. It
// formats only the visible rows.
func (u *ui) drawIterations(c canvas) {
	n, focused := len(u.model.Run.Iterations), u.focus == panelIterations
	c.title(title{"Iterations", "4", fmt.Sprint(n), focused, ""})
	c = c.rows(1, c.h-1)
	if n == 0 {
		c.text(1, 0, c.dim(), "none yet")
		return
	}
	now, selected := u.o.Now(), min(max(u.selected, 0), n-1)
	first := max(0, min(selected-c.h/2, n-c.h))
	for y := 0; y < c.h && first+y < n; y++ {
		r := summary.Row(&u.model, n-1-first-y, now)
		drawIteration(c.rows(y, 1), r, focused && first+y == selected)
	}
}

func drawIteration(c canvas, r summary.IterationRow, selected bool) {
	style, mark := plain, c.tone(r.Tone)
	if selected {
		style = style.Reverse(true)
		mark = style
		c.text(0, 0, style, strings.Repeat(" ", c.w))
	}
	x := c.text(1, 0, style, fmt.Sprintf("%4d ", r.Number))
	x = c.text(x, 0, mark, r.Mark)
	x = c.text(x, 0, style, fmt.Sprintf(" %8s  ", r.Duration))
	right := 0
	if r.Cost != "" && c.w >= 44 {
		right = termtext.Width(r.Cost) + 2
		c.text(c.w-right+1, 0, style, r.Cost)
	}
	c.text(x, 0, style, termtext.Fit(r.Text, c.w-x-right-1))
}
