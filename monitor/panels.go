package monitor

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"
)

var plain = tcell.StyleDefault

// drawHeader shows one to three rows: the state, what goes on, who runs.
func drawHeader(c canvas, v view) {
	style := c.tone(v.Tone).Bold(true)
	state := " " + v.Mark + " " + v.Word + " "
	right := join(" · ", v.Iteration, v.Elapsed)
	if textWidth(state)+textWidth(right)+12 > c.w {
		right = strings.Replace(strings.TrimPrefix(v.Iteration, "iteration "), " of ", "/", 1)
	}
	name := fit(v.Project, max(c.w-textWidth(state)-textWidth(right)-4, 6))
	c.ends(0, []piece{{state, style.Reverse(true)}, {" ", plain}, {name, plain.Bold(true)}}, []piece{{right, plain}, {" ", plain}})
	news := v.News
	if len(v.Problems) > 0 {
		news = v.Problems[0]
	}
	x := c.text(1, 1, c.tone(v.Tone), fit(news, c.w-2))
	identity, right := v.Identity, v.Rule
	advice := orElse(v.Asked, v.Advice)
	if advice != "" && x+3+textWidth(advice) < c.w {
		c.text(x, 1, c.dim(), " · "+advice)
	} else if advice != "" {
		identity, right = fitEnd(advice, c.w-2), ""
	}
	c.ends(2, []piece{{" ", plain}, {fit(identity, c.w-2), c.dim()}}, []piece{{right, c.dim()}, {" ", plain}})
}

// drawPlan shows one row, or a title with one or two.
func drawPlan(c canvas, v view, focused bool) {
	p := v.Plan
	part := 0.0
	if p.Total > 0 {
		part = float64(p.Done) / float64(p.Total)
	}
	if c.h == 1 {
		x := c.text(1, 0, plain, "plan ")
		if p.Total > 0 {
			w := max(min(c.w/4, 20), 6)
			c.columns(x, w).bar(part, c.tone(good))
			x += w + 1
		}
		x = c.text(x, 0, plain.Bold(true), orElse(p.Counts, "none yet"))
		c.text(x, 0, plain, fit("  "+p.Task, c.w-x-1))
		return
	}
	c.title("Plan", "1", "", focused)
	c = c.rows(1, c.h-1)
	text := p.Counts
	if p.Total > 0 {
		text += fmt.Sprintf("  %.0f %%", part*100)
		w := max(c.w-textWidth(text)-4, 0)
		c.columns(1, w).bar(part, c.tone(good))
		c.text(w+3, 0, plain.Bold(true), text)
	} else {
		c.text(1, 0, c.dim(), orElse(text, "none yet"))
	}
	if p.Task != "" {
		c.text(c.text(1, 1, c.tone(busy), "▸ "), 1, plain, fit(p.Task, c.w-4))
	}
}

// drawUsage shows one row, or a title, the gauges, the cost and the plot.
func drawUsage(c canvas, v view, focused bool) {
	if c.h == 1 {
		drawUsageRow(c, v)
		return
	}
	c.title("API usage", "2", "", focused)
	c = c.rows(1, c.h-1)
	label := 6
	for _, g := range v.Gauges {
		label = max(label, min(textWidth(g.Label), 16))
	}
	width := 24
	for _, g := range v.Gauges {
		width = min(width, c.w-label-textWidth(g.Value)-textWidth(g.Note)-7)
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
	x = c.text(max(x+1, label+2), y, plain.Bold(true), orElse(v.Cost, "unknown"))
	if v.Tokens != "" {
		c.text(x, y, c.dim(), fit(" · "+v.Tokens, c.w-x-1))
	}
	if plot := c.rows(y+1, c.h-y-1); plot.h >= 3 {
		drawPlot(plot, v)
	}
}

func drawUsageRow(c canvas, v view) {
	x := 1
	for i, g := range v.Gauges {
		text := g.Label + " " + g.Value
		if i == 1 && g.Part < 0 && strings.HasPrefix(g.Value, "0 ") {
			continue
		}
		if i > 0 {
			text = " · " + text
		}
		if x+textWidth(text) > c.w-1 {
			return
		}
		x = c.text(x, 0, c.tone(notGood(g.Tone)), text)
	}
	if text := prefixed(" · ", v.Cost); x+textWidth(text) < c.w {
		c.text(x, 0, plain, text)
	}
}

// notGood keeps rows of text quiet: only what deserves a look is coloured.
func notGood(t tone) tone {
	if t == good {
		return calm
	}
	return t
}

func drawGauge(c canvas, label, width int, g gauge) {
	c.text(1, 0, c.dim(), fit(g.Label, label))
	x := label + 2
	if g.Part >= 0 {
		c.columns(x, width).bar(g.Part, c.tone(g.Tone))
		x += width + 1
	}
	x = c.text(x, 0, c.tone(notGood(g.Tone)).Bold(true), g.Value)
	c.text(x+2, 0, c.dim(), fit(g.Note, c.w-x-3))
}

// drawPlot draws what each iteration spent as columns of eighths.
func drawPlot(c canvas, v view) {
	values := v.Spent
	room := max(c.w-2, 0)
	if len(values) > room {
		values = values[len(values)-room:]
	}
	top := 0.0
	for _, n := range values {
		top = max(top, n)
	}
	if top <= 0 {
		c.text(1, 1, c.dim(), "what each iteration spends is drawn here")
		return
	}
	most := fmt.Sprintf("$%.2f", top)
	if v.SpentOf != "cost" {
		most = count(int64(top))
	}
	c.text(1, 0, c.dim(), fit(fmt.Sprintf("%s of each iteration, at most %s", v.SpentOf, most), c.w-2))
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
				c.text(1+i*each, 1+row, c.tone(busy), string(marks[part]))
			}
		}
	}
}

// drawBreaker shows one row, or a title with one or two.
func drawBreaker(c canvas, v view, focused bool) {
	b := v.Breaker
	y, x := 0, 1
	if c.h == 1 {
		x = c.text(1, 0, plain, "breaker ")
	} else {
		c.title("Circuit breaker", "3", "", focused)
		y = 1
	}
	x = c.text(x, y, c.tone(b.Tone).Bold(true), b.State)
	text := b.Counters
	if c.h <= 2 && b.Reason != "" && b.Tone != good {
		text = b.Reason
	}
	c.text(x, y, plain, fit(" · "+text, c.w-x-1))
	if c.h > 2 {
		c.text(1, 2, c.dim(), fit(b.Reason, c.w-2))
	}
}

// drawRounds lists iterations from the newest, beginning with number skip.
func drawRounds(c canvas, v view, selected int, focused bool) {
	c.title("Iterations", "4", fmt.Sprint(len(v.Rounds)), focused)
	c = c.rows(1, c.h-1)
	if len(v.Rounds) == 0 {
		c.text(1, 0, c.dim(), "none yet")
		return
	}
	selected = min(max(selected, 0), len(v.Rounds)-1)
	first := max(0, min(selected-c.h/2, len(v.Rounds)-c.h))
	for y := 0; y < c.h && first+y < len(v.Rounds); y++ {
		r := v.Rounds[first+y]
		style := plain
		if focused && first+y == selected {
			style = style.Reverse(true)
			c.text(0, y, style, strings.Repeat(" ", c.w))
		}
		x := c.text(1, y, style, fmt.Sprintf("%4d ", r.Number))
		mark := c.tone(r.Tone)
		if focused && first+y == selected {
			mark = style
		}
		x = c.text(x, y, mark, r.Mark)
		x = c.text(x, y, style, fmt.Sprintf(" %8s  ", r.Duration))
		right := 0
		if r.Cost != "" && c.w >= 44 {
			right = textWidth(r.Cost) + 2
			c.text(c.w-right+1, y, style, r.Cost)
		}
		c.text(x, y, style, fit(r.Text, c.w-x-right-1))
	}
}
