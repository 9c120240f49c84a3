package monitor

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// transcriptRow is one row of the page.
type transcriptRow struct {
	step  *transcriptStep
	text  string
	depth int
	head  bool // the first row of a step
	kind  byte // of the rows below a call: '+', '-', '|' or '!'; 0: it belongs to the step itself
}

const (
	stamped = 90 // minimum width for the times
	indent  = 2  // cells for each level
)

// layOut makes the rows for a width. The cursor stays on its step.
func (p *transcriptPage) layOut(width int) {
	if width == p.width {
		return
	}
	at, below := p.at(), 0
	for i := p.cursor; i > 0 && at != nil && !p.rows[i].head; i-- {
		below++
	}
	p.rows, p.turns, p.width = p.rows[:0], p.turns[:0], width
	spoke := false
	for _, s := range p.steps {
		speaks := s.call == nil && s.role == view.RoleText
		if speaks && !spoke || s.role == view.RoleHeading {
			p.turns = append(p.turns, len(p.rows))
		}
		spoke = speaks
		p.rowsOf(s, 0)
	}
	for i := range p.rows {
		if p.rows[i].step == at && p.rows[i].head {
			p.cursor = i
			for below > 0 && i+1 < len(p.rows) && p.rows[i+1].step == at {
				i, below = i+1, below-1
				p.cursor = i
			}
			break
		}
	}
	if p.follow {
		p.cursor = len(p.rows) - 1
	}
	p.cursor = min(max(p.cursor, 0), max(len(p.rows)-1, 0))
}

func (p *transcriptPage) rowsOf(s *transcriptStep, depth int) {
	room := max(p.width-depth*indent-3, 8)
	add := func(kind byte, text string) {
		for _, part := range termtext.Wrap(text, room) {
			p.rows = append(p.rows, transcriptRow{step: s, text: part, depth: depth, kind: kind})
		}
	}
	first := len(p.rows)
	if s.call != nil {
		p.rows = append(p.rows, transcriptRow{step: s, text: s.lines[0], depth: depth})
	} else {
		for _, line := range s.lines {
			add(0, line)
		}
	}
	if first == len(p.rows) {
		p.rows = append(p.rows, transcriptRow{step: s, depth: depth})
	}
	p.rows[first].head = true
	if s.call == nil || s.folded {
		return
	}
	room -= 2
	for _, line := range s.call.hunk {
		kind := byte('|')
		if line != "" && (line[0] == '+' || line[0] == '-') {
			kind = line[0]
		}
		add(kind, line)
	}
	for _, below := range s.sub {
		p.rowsOf(below, depth+1)
	}
	kind := byte('|')
	if s.call.failed {
		kind = '!'
	}
	for _, line := range s.call.answer {
		add(kind, line)
	}
}

// Draw draws the page. The cost depends on the rows on the screen, unless something happened.
func (p *transcriptPage) Draw(c canvas.Canvas, s scene) {
	name := fmt.Sprintf("Transcript of iteration %d", p.Number)
	stamps := c.W >= stamped
	text := c.Rows(1, c.H-1)
	if stamps {
		text = text.Columns(9, c.W-9)
	}
	p.height = text.H
	p.layOut(text.W)
	x := termtext.Width(name) + 9
	right := p.right(c.W - x - 5)
	c.Title(canvas.Title{Name: name, Key: "enter", Focused: true, Right: right})
	if room := c.W - x - termtext.Width(right) - 6; p.Title != "" && room >= 10 {
		c.Text(x, 0, c.Dim(), termtext.Fit(termtext.Line(p.Title), room)+" ")
	}
	switch {
	case p.why != "":
		text.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(p.why, text.W-2))
		return
	case !p.ready:
		text.Text(1, 0, c.Dim(), "reading the events …")
		return
	case len(p.rows) == 0:
		text.Text(1, 0, c.Dim(), termtext.Fit("the agent has neither said nor done anything yet", text.W-2))
		return
	}
	p.top = c.Rows(0, text.H).First(p.top, p.cursor, len(p.rows))
	for y := 0; y < text.H && p.top+y < len(p.rows); y++ {
		r := &p.rows[p.top+y]
		if stamps && r.head && !r.step.at.IsZero() {
			c.Text(0, y+1, c.Dim(), r.step.at.In(s.Now.Location()).Format(time.TimeOnly))
		}
		r.draw(text.Rows(y, 1), p.top+y == p.cursor)
	}
}

// right is the counts at the right of the title, in at most room cells.
func (p *transcriptPage) right(room int) string {
	turn := 0
	for i, at := range p.turns {
		if at <= p.cursor {
			turn = i + 1
		}
	}
	words := []string{}
	if len(p.turns) > 0 {
		words = append(words, fmt.Sprintf("turn %d of %d", max(turn, 1), len(p.turns)))
	}
	if n := len(p.calls); n > 0 {
		words = append(words, termtext.Count(n, "call"))
	}
	if p.failed > 0 {
		words = append(words, fmt.Sprintf("%d failed", p.failed))
	}
	if p.follow {
		words = append(words, "following")
	}
	for len(words) > 1 && termtext.Width(strings.Join(words, " · ")) > room {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " · ")
}

func (r *transcriptRow) draw(c canvas.Canvas, selected bool) {
	style := styleOf(c, r)
	if selected {
		style = tcell.StyleDefault.Reverse(true)
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	}
	x := r.depth * indent
	switch {
	case r.kind == '|' || r.kind == '!':
		c.Text(x+1, 0, style, "│ "+r.text)
		return
	case r.kind != 0:
		c.Text(x+1, 0, style, "  "+r.text)
		return
	case r.step.call == nil:
		mark := " "
		if r.head {
			mark = canvas.Mark(r.step.role)
		}
		c.Text(c.Text(x, 0, style, mark+" "), 0, style, r.text)
		return
	}
	how, tone := r.step.call.how(r.step)
	side := c.Tone(tone)
	if tone == summary.Calm {
		side = c.Dim()
	}
	if selected {
		side = style
	}
	at := c.W - termtext.Width(how) - 1
	sign := "▾ "
	if r.step.folded {
		sign = "▸ "
	}
	end := c.Text(c.Text(x, 0, style, sign), 0, style, termtext.Fit(r.text, max(at-x-4, 4)))
	if at > end {
		c.Text(at, 0, side, how)
	}
}

// how says how a call went, and how many calls and folded lines are below it.
func (c *call) how(s *transcriptStep) (text string, tone summary.Tone) {
	var size []string
	if n := len(s.sub); n > 0 {
		size = append(size, termtext.Count(n, "call"))
	}
	if n := len(c.answer); n > 0 && s.folded {
		size = append(size, termtext.Count(n, "line"))
	}
	switch {
	case c.failed:
		size, tone = append(size, "✗ failed"), summary.Bad
	case c.answered:
		size, tone = append(size, "✓"), summary.Calm
	default:
		size, tone = append(size, "no answer yet"), summary.Busy
	}
	return strings.Join(size, " · "), tone
}

func styleOf(c canvas.Canvas, r *transcriptRow) tcell.Style {
	switch r.kind {
	case '+':
		return c.Tone(summary.Good)
	case '-':
		return c.Tone(summary.Bad).Bold(false)
	case '|':
		return c.Dim()
	case '!':
		return c.Tone(summary.Bad).Bold(false)
	}
	return c.Role(r.step.role)
}
