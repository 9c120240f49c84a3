package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
	"ralph/state/view/summary"
)

const (
	taskTwoColumns = 120 // minimum width for the details beside the list
	headerRoom     = 12  // minimum height for the names of the columns
	detailShare    = 5   // of 12: width of the details
)

var taskPlain = tcell.StyleDefault

// Draw draws the page. The cost depends on the rows on the screen, not on the plan.
func (p *tasksPage) Draw(c canvas.Canvas, s scene) {
	m, now := s.Model, s.Now
	p.see(m)
	t := p.task()
	switch {
	case p.open && t != nil:
		c.Title(canvas.Title{Name: "Task", Key: "t", Focused: true,
			Right: fmt.Sprintf("%s of %s", taskCount(p.selected+1), taskCount(len(p.shown)))})
		p.row = drawText(c.Rows(1, c.H-1), p.details(t, m, now), p.row)
		p.height = c.H - 1
	case c.W >= taskTwoColumns && t != nil:
		right := c.W * detailShare / 12
		left := c.W - right
		p.drawList(c.Columns(0, left-1), now)
		side := c.Columns(left, right)
		side.Title(canvas.Title{Name: "Task", Key: "enter"})
		drawText(side.Rows(1, c.H-1).Columns(1, right-1), p.details(t, m, now), 0)
		for y := 1; y < c.H; y++ {
			c.Text(left-1, y, c.Dim(), "│")
		}
		c.Text(left-1, 0, c.Dim(), "┬")
	default:
		p.drawList(c, now)
	}
}

// drawText draws lines, wrapped, from row top or from the last one that still fills c. It
// returns the row that it used.
func drawText(c canvas.Canvas, all []taskText, top int) int {
	type line struct {
		taskText
		indent int
	}
	var rows []line
	for _, t := range all {
		indent := len(t.text) - len(strings.TrimLeft(t.text, " -"))
		if indent >= c.W/2 {
			indent = 0
		}
		for i, part := range termtext.Wrap(t.text[indent:], max(c.W-2-indent, 1)) {
			l := line{taskText{part, t.tone, t.bold, t.dim}, indent}
			if i == 0 {
				l.taskText.text, l.indent = t.text[:indent]+part, 0
			}
			rows = append(rows, l)
		}
	}
	top = max(min(top, len(rows)-c.H), 0)
	for y, l := range rows[top:min(top+c.H, len(rows))] {
		style := c.Tone(l.tone).Bold(l.bold)
		if l.dim {
			style = c.Dim()
		}
		c.Text(1+l.indent, y, style, l.taskText.text)
	}
	return top
}

// columns are the widths of what stands to the right of a title; 0 if there is no room, or nothing to say.
type columns struct{ tries, span, cost, found, worker int }

func (p *tasksPage) columnsOf(width int) (k columns) {
	switch {
	case p.quiet && width >= 60:
		k = columns{3, 7, 7, 3, 8}
	case p.quiet && width >= 44:
		k = columns{3, 7, 7, 3, 0}
	case width >= 100:
		k = columns{5, 8, 8, 5, 16}
	case width >= 76:
		k = columns{5, 8, 8, 5, 0}
	case width >= 56:
		k = columns{5, 8, 0, 5, 0}
	}
	found := false
	for _, w := range p.work {
		found = found || w.found > 0
	}
	if !found {
		k.found = 0
	}
	if p.quiet && !slices.ContainsFunc(p.all, func(t shownTask) bool { return t.worker() != "" }) {
		k.worker = 0 // they are all of the same agent
	}
	return k
}

func (k columns) all() []int { return []int{k.tries, k.span, k.cost, k.found, k.worker} }

func (k columns) width() (n int) {
	for _, w := range k.all() {
		if w > 0 {
			n += w + 1
		}
	}
	return n
}

// draw draws the cells of a row.
func (k columns) draw(c canvas.Canvas, cells []canvas.Piece) {
	x := c.W - k.width()
	for i, w := range k.all() {
		if w == 0 {
			continue
		}
		text := termtext.Fit(cells[i].Text, w)
		at := x
		if i < 4 { // numbers are right-aligned
			at += w - termtext.Width(text)
		}
		c.Text(at, 0, cells[i].Style, text)
		x += w + 1
	}
}

// heads draws the names of the columns.
func (k columns) heads(c canvas.Canvas) {
	names := []string{"tries", "time", "cost", "found", "agent"}
	if k.tries < len(names[0]) {
		names[0], names[3] = "try", "!"
	}
	var all []canvas.Piece
	for _, name := range names {
		all = append(all, canvas.In(c.Dim(), name))
	}
	c.Text(3, 0, c.Dim(), "task")
	k.draw(c, all)
}

// DrawPanel draws the tasks around the one at hand, below the names of the columns.
func (p *tasksPage) DrawPanel(c canvas.Canvas, s scene) {
	p.quiet = true
	p.see(s.Model)
	if p.choose(s.Model.Status.Task.ID); len(p.shown) == 0 || c.H < 2 {
		return
	}
	p.chooseLeft()
	k := p.columnsOf(c.W)
	k.heads(c)
	c = c.Rows(1, c.H-1)
	top := max(min(p.selected-c.H/2, len(p.shown)-c.H), 0)
	for y := 0; y < c.H && top+y < len(p.shown); y++ {
		p.drawTask(c.Rows(y, 1), top+y, k, s.Now)
	}
}

// drawList draws the tasks around the selected one.
func (p *tasksPage) drawList(c canvas.Canvas, now time.Time) {
	done, total := p.counts()
	right := fmt.Sprintf("%s/%s done", taskCount(done), taskCount(total))
	if p.query != "" {
		right = fmt.Sprintf("%s of %s match %q", taskCount(len(p.shown)), taskCount(len(p.all)), termtext.Line(p.query))
	}
	if !p.ready {
		right = ""
	}
	c.Title(canvas.Title{Name: "Tasks", Key: "t", Focused: true, Right: right})
	k := p.columnsOf(c.W)
	p.width, p.head = c.W, 0
	if c = c.Rows(1, c.H-1); c.H >= headerRoom && k.tries > 0 {
		k.heads(c)
		p.head, c = 1, c.Rows(1, c.H-1)
	}
	p.height = c.H
	switch {
	case p.why != "":
		c.Text(1, 0, c.Tone(summary.Bad), termtext.Fit(p.why, c.W-2))
		return
	case !p.ready:
		c.Text(1, 0, c.Dim(), "reading the plan …")
		return
	case len(p.all) == 0:
		c.Text(1, 0, c.Dim(), "the plan has no tasks; a adds one")
		return
	case len(p.shown) == 0:
		c.Text(1, 0, c.Dim(), "nothing matches; esc shows all tasks")
		return
	}
	p.top = c.First(p.top, p.selected, len(p.shown))
	for y := 0; y < c.H && p.top+y < len(p.shown); y++ {
		p.drawTask(c.Rows(y, 1), p.top+y, k, now)
	}
}

func (p *tasksPage) drawTask(c canvas.Canvas, row int, k columns, now time.Time) {
	t := &p.all[p.shown[row]]
	state := p.state(t)
	mark, tone := p.mark(t)
	style, icon, side := taskPlain, c.Tone(tone), c.Dim()
	switch {
	case row == p.selected && !p.quiet:
		style = style.Reverse(true)
		icon, side = style, style
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	case !t.pending() || t.Optional:
		style = c.Dim()
	case state == "active":
		style = style.Bold(true)
	}
	w := p.work[t.ID]
	x := c.Text(1, 0, icon, mark) + 1
	if p.query == "" {
		x += min(2*t.Depth, 12)
	}
	room := c.W - k.width() - 1
	more, named := view.Join(" · ", t.Why, p.about(t)), room
	if t.Why != "" && !p.quiet {
		named = max(room*3/5, room-2-termtext.Width(more)) // why it is not done is worth a part of its title
	}
	x = p.drawName(c.Columns(0, named), x, row, style)
	if room-x > 12 && more != "" {
		c.Text(x+2, 0, side, termtext.Fit(more, room-x-2))
	}
	tries := ""
	if n := max(t.Attempts, len(w.turns)); n > 0 {
		tries = fmt.Sprintf("%d×", n)
	}
	found, alarm := "", side
	if w.found > 0 {
		found = fmt.Sprintf("!%d", w.found)
		if row != p.selected || p.quiet {
			alarm = c.Tone(summary.Warn)
		}
	}
	k.draw(c, []canvas.Piece{canvas.In(side, tries), canvas.In(side, w.span(now)),
		canvas.In(side, view.Dollars(w.cost)), canvas.In(alarm, found), canvas.In(side, cmp.Or(t.worker(), w.agent))})
}

// drawName draws id and title from column x; what a search matched is underlined.
func (p *tasksPage) drawName(c canvas.Canvas, x, row int, style tcell.Style) int {
	name := p.all[p.shown[row]].name
	shown := termtext.Fit(name, max(c.W-x, 0))
	if row >= len(p.hits) {
		return c.Text(x, 0, style, shown)
	}
	from := 0
	for _, hit := range p.hits[row] {
		if hit < from || hit >= len(shown) || hit >= len(name) || shown[hit] != name[hit] {
			break // cut off
		}
		end := hit + 1
		for end < len(shown) && shown[end]&0xc0 == 0x80 {
			end++
		}
		x = c.Text(x, 0, style, shown[from:hit])
		x = c.Text(x, 0, style.Underline(true).Bold(true), shown[hit:end])
		from = end
	}
	return c.Text(x, 0, style, shown[from:])
}

// DrawAsk draws what the page asks in the last row.
func (p *tasksPage) DrawAsk(c canvas.Canvas) {
	title := ""
	if t := p.task(); t != nil {
		title = t.Title
	}
	switch p.asks {
	case askTitle:
		p.line.Draw(c, "new task: ")
	case askNewTitle:
		p.line.Draw(c, "title: ")
	case askReason:
		p.line.Draw(c, "blocked because: ")
	case taskAskQuery:
		p.line.Draw(c, "/")
	case taskAskSure:
		question := " " + p.sure.Question + " (y/n)"
		name := termtext.Fit(title, max(c.W-4-termtext.Width(question), 0))
		c.Text(1, 0, c.Tone(summary.Bad), `"`+name+`"`+question)
	}
}
