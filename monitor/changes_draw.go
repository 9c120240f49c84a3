package monitor

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view/summary"
)

const changesTwoColumns = 120 // minimum width for the list of files beside the hunks

var plainLines = tcell.StyleDefault

// Draw draws the page. The cost depends on the rows on the screen.
func (p *changesPage) Draw(c canvas.Canvas, s scene) {
	p.Living = s.Model.Alive
	right := ""
	if n := p.count(); n > 0 {
		added, deleted := p.totals()
		right = fmt.Sprintf("%s +%d -%d", termtext.Count(n, "file"), added, deleted)
	}
	c.Title(canvas.Title{Name: "Changes of " + p.Name, Key: "d", Focused: true, Right: right})
	c = c.Rows(1, c.H-1)
	switch {
	case !p.ready:
		c.Text(1, 0, c.Dim(), "asking git …")
		return
	case p.why != "":
		c.Text(1, 0, c.Tone(summary.Warn), termtext.Fit(p.why, c.W-2))
		c = c.Rows(1, c.H-1)
	}
	if len(p.files) == 0 {
		return
	}
	if p.left = 0; c.W >= changesTwoColumns {
		left := min(c.W/3, 50)
		p.left = left
		p.drawFiles(c.Columns(0, left-1))
		for y := range c.H {
			c.Text(left-1, y, c.Dim(), "│")
		}
		c = c.Columns(left, c.W-left)
	}
	p.height = c.H
	all := p.places()
	p.top = max(min(p.top, len(all)-c.H), 0)
	for y := 0; y < c.H && p.top+y < len(all); y++ {
		p.drawPlace(c.Rows(y, 1), all[p.top+y])
	}
}

func (p *changesPage) totals() (added, deleted int64) {
	for _, f := range p.files {
		added, deleted = added+f.added, deleted+f.deleted
	}
	return added, deleted
}

// firstFile is the index of the first file to draw in a list of h rows.
func (p *changesPage) firstFile(h int) int { return max(0, min(p.selected-h/2, len(p.files)-h)) }

// drawFiles lists the files around the selected one.
func (p *changesPage) drawFiles(c canvas.Canvas) {
	first := p.firstFile(c.H)
	for y := 0; y < c.H && first+y < len(p.files); y++ {
		p.drawFile(c.Rows(y, 1), first+y, "")
	}
}

func (p *changesPage) drawFile(c canvas.Canvas, i int, fold string) {
	f, style, more, less := p.files[i], plainLines.Bold(true), c.Tone(summary.Good), c.Tone(summary.Bad)
	if i == p.selected {
		style = style.Reverse(true)
		more, less = style, style
		c.Text(0, 0, style, strings.Repeat(" ", c.W))
	}
	plus, minus := fmt.Sprintf("+%d", f.added), fmt.Sprintf(" -%d", f.deleted)
	right := c.W - 1 - len(plus) - len(minus)
	c.Text(1, 0, style, canvas.FitEnd(fold+f.name, max(right-2, 1)))
	c.Text(c.Text(right, 0, more, plus), 0, less, minus)
}

func (p *changesPage) drawPlace(c canvas.Canvas, at changesPlace) {
	f := p.files[at.file]
	switch at.row {
	case isHeading:
		c.Text(1, 0, c.Tone(summary.Busy).Bold(true), termtext.Fit(f.heading, c.W-2))
		return
	case isFile:
		fold := "▾ "
		if p.folded[at.file] {
			fold = "▸ "
		}
		p.drawFile(c, at.file, fold)
		return
	}
	r := f.rows[at.row]
	switch r.kind {
	case added:
		c.Text(1, 0, c.Tone(summary.Good), termtext.Fit("+"+r.text, c.W-2))
	case deleted:
		c.Text(1, 0, c.Tone(summary.Bad).Bold(false), termtext.Fit("-"+r.text, c.W-2))
	case hunk:
		c.Text(1, 0, c.Tone(summary.Busy), termtext.Fit(r.text, c.W-2))
	case remark:
		c.Text(1, 0, c.Dim(), termtext.Fit(r.text, c.W-2))
	default:
		c.Text(1, 0, plainLines, termtext.Fit(" "+r.text, c.W-2))
	}
}

// DrawAsk draws what the page asks in the last row.
func (p *changesPage) DrawAsk(c canvas.Canvas) {
	if p.asks {
		p.sure.Draw(c)
	}
}
