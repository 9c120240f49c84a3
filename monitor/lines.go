package monitor

import (
	"cmp"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
)

// drawLines draws the visible rows of a log.
func drawLines(c canvas.Canvas, v *logView) {
	if c.H <= 0 {
		return
	}
	gutter, stamps := 2, c.W >= 90 && !v.bare
	switch {
	case v.bare:
		gutter = 1
	case stamps:
		gutter = 11
	}
	v.layOut(c.W-gutter-1, c.H)
	if len(v.lines) == 0 {
		c.Text(1, 0, c.Dim(), "nothing yet")
		return
	}
	match := matcher(v.query)
	p := v.top
	for y := 0; y < c.H && p.line < v.end(); {
		l := v.at(p.line)
		ends := []int{len(l.Text)}
		if v.wrap {
			ends = rows(l.Text, v.width)
		}
		hit, hitEnd := match(l.Text)
		for ; p.row < len(ends) && y < c.H; p.row++ {
			start := 0
			if p.row > 0 {
				start = ends[p.row-1]
			}
			if p.row == 0 && !v.bare {
				drawGutter(c, y, l, stamps)
			}
			v.drawRow(c.Columns(gutter, c.W-gutter), y, p, l, [2]int{start, ends[p.row]}, [2]int{hit, hitEnd})
			y++
		}
		p = place{p.line + 1, 0}
	}
}

// drawText draws the beginning of a text below a title.
func drawText(c canvas.Canvas, title canvas.Title, lines []view.Line) {
	c.Title(title)
	v := newLogView()
	v.bare, v.follow = true, false
	v.replace(lines)
	drawLines(c.Rows(1, c.H-1), v)
}

// marker shows the role of a line without colour.
func marker(l *view.Line) string {
	if l.Role == view.RoleTool && l.Sub {
		return "▹"
	}
	if l.First {
		return canvas.Mark(l.Role)
	}
	rest := map[view.Role]string{view.RoleError: "│", view.RoleResult: " ", view.RoleGood: " ", view.RoleWarning: "│",
		view.RoleTold: "│"}
	return cmp.Or(rest[l.Role], canvas.Mark(l.Role))
}

func drawGutter(c canvas.Canvas, y int, l *view.Line, stamps bool) {
	x := 0
	if stamps {
		if !l.At.IsZero() {
			c.Text(0, y, c.Dim(), l.At.Local().Format(time.TimeOnly))
		}
		x = 9
	}
	c.Text(x, y, c.Role(l.Role), marker(l))
}

// drawRow draws one row of a line: its bytes in span. Those in hit match the search.
func (v *logView) drawRow(c canvas.Canvas, y int, p place, l *view.Line, span, hit [2]int) {
	text, style := l.Text, c.Role(l.Role)
	if v.marks && p.line == v.marked() {
		style = style.Reverse(true)
		c.Text(0, y, style, strings.Repeat(" ", c.W))
	}
	found := plain.Reverse(true)
	if p.line != v.found.line {
		found = plain.Underline(true)
	}
	x, at := 0, span[0]
	if hit[0] >= 0 && hit[0] < span[1] && hit[1] > at {
		from, to := max(hit[0], at), min(hit[1], span[1])
		x = c.Text(x, y, style, text[at:from])
		x = c.Text(x, y, found, text[from:to])
		at = to
	}
	row := text[at:span[1]]
	if !v.wrap && x+len(row) > c.W {
		row = termtext.Fit(row, c.W-x) // the rest of a long line costs nothing
	}
	x = c.Text(x, y, style, row)
	if l.Role == view.RoleHeading && span[1] == len(text) {
		c.Text(x, y, c.Dim(), " "+strings.Repeat("━", max(c.W-x-2, 0)))
	}
}
