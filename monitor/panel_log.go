package monitor

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/state/view"
	"ralph/state/view/summary"
)

// drawLog draws a title and the visible rows of a log.
func drawLog(c canvas, t title, v *logView) {
	switch {
	case v.follow:
		t.right = "following"
	case t.file != "": // nothing is added to a review
		t.right = "scrolled back, f follows"
	}
	t.right = view.Join(", ", v.progress(), t.right)
	if !v.wrap {
		t.right += ", unwrapped"
	}
	c.title(t)
	if x := termtext.Width(t.name+t.key) + 4; t.file != "" && x+termtext.Width(t.file+t.right)+8 <= c.w {
		c.text(x, 0, c.dim(), t.file+" ")
	}
	c = c.rows(1, c.h-1)
	if c.h <= 0 {
		return
	}
	gutter, stamps := 2, c.w >= 90
	if stamps {
		gutter = 11
	}
	v.layOut(c.w-gutter-1, c.h)
	if len(v.lines) == 0 {
		c.text(1, 0, c.dim(), "nothing yet")
		return
	}
	match := matcher(v.query)
	p := v.top
	for y := 0; y < c.h && p.line < v.end(); {
		l := v.at(p.line)
		ends := []int{len(l.Text)}
		if v.wrap {
			ends = rows(l.Text, v.width)
		}
		hit, hitEnd := match(l.Text)
		for ; p.row < len(ends) && y < c.h; p.row++ {
			start := 0
			if p.row > 0 {
				start = ends[p.row-1]
			}
			if p.row == 0 {
				drawGutter(c, y, l, stamps)
			}
			r := logRow{line: l, start: start, end: ends[p.row], hit: hit, hitEnd: hitEnd, current: p.line == v.found.line}
			r.draw(c.columns(gutter, c.w-gutter), y, v)
			y++
		}
		p = place{p.line + 1, 0}
	}
}

// drawTasks lists the plan in the place of a log that has not begun.
func drawTasks(c canvas, tasks []string) {
	c.title(title{name: "Tasks", key: "6", right: termtext.Count(len(tasks), "task")})
	c = c.rows(1, c.h-1)
	for y, text := range tasks {
		if y == c.h-1 && len(tasks) > c.h {
			text = "… " + termtext.Count(len(tasks)-y, "more task")
		}
		if y < c.h {
			c.text(1, y, plain, termtext.Fit(termtext.Line(text), c.w-2))
		}
	}
}

// marker shows the role of a line without colour.
func marker(l *view.Line) string {
	if l.Role == view.RoleTool && l.Sub {
		return "▹"
	}
	marks := [...]struct{ first, rest string }{
		view.RoleText: {" ", " "}, view.RoleTool: {"▸", "▸"}, view.RoleAnswer: {"│", "│"}, view.RoleError: {"✗", "│"},
		view.RoleHeading: {"━", "━"}, view.RoleNote: {"·", "·"}, view.RoleResult: {"■", " "}, view.RoleGood: {"✓", " "},
		view.RoleWarning: {"!", "│"}, view.RoleTold: {"»", "│"},
	}
	if l.First {
		return marks[l.Role].first
	}
	return marks[l.Role].rest
}

func drawGutter(c canvas, y int, l *view.Line, stamps bool) {
	x := 0
	if stamps {
		if !l.At.IsZero() {
			c.text(0, y, c.dim(), l.At.Local().Format(time.TimeOnly))
		}
		x = 9
	}
	c.text(x, y, roleStyle(c, l.Role), marker(l))
}

func roleStyle(c canvas, r view.Role) tcell.Style {
	switch r {
	case view.RoleTool, view.RoleTold:
		return c.tone(summary.Busy)
	case view.RoleWarning:
		return c.tone(summary.Warn)
	case view.RoleAnswer, view.RoleNote:
		return c.dim()
	case view.RoleError:
		return c.tone(summary.Bad)
	case view.RoleGood:
		return c.tone(summary.Good)
	case view.RoleHeading, view.RoleResult:
		return plain.Bold(true)
	}
	return plain
}

// logRow is one row of a line: its bytes from start to end. Those from hit to hitEnd
// match the search.
type logRow struct {
	line        *view.Line
	start, end  int
	hit, hitEnd int
	current     bool
}

func (r logRow) draw(c canvas, y int, v *logView) {
	text, style := r.line.Text, roleStyle(c, r.line.Role)
	if !v.wrap && v.shift > 0 {
		r.start = afterCells(text, v.shift)
	}
	found := plain.Reverse(true)
	if !r.current {
		found = plain.Underline(true)
	}
	x, at := 0, r.start
	if r.hit >= 0 && r.hit < r.end && r.hitEnd > r.start {
		hit, hitEnd := max(r.hit, r.start), min(r.hitEnd, r.end)
		x = c.text(x, y, style, text[at:hit])
		x = c.text(x, y, found, text[hit:hitEnd])
		at = hitEnd
	}
	row := text[at:r.end]
	if !v.wrap && x+len(row) > c.w {
		row = termtext.Fit(row, c.w-x) // the rest of a long line costs nothing
	}
	x = c.text(x, y, style, row)
	if r.line.Role == view.RoleHeading && r.end == len(text) {
		c.text(x, y, c.dim(), " "+strings.Repeat("━", max(c.w-x-2, 0)))
	}
}

// afterCells returns the offset of the character at cell n.
func afterCells(s string, n int) int {
	cells := 0
	for i, r := range s {
		if cells >= n {
			return i
		}
		cells += cellWidth(r)
	}
	return len(s)
}
