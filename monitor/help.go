package monitor

import (
	"fmt"
	"slices"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
	"ralph/state/view"
)

// helpPage lists the keys of the page below it.
type helpPage struct {
	u           *ui
	table       []binding
	top, height int
}

// openHelp shows what each key does.
func (u *ui) openHelp() {
	if _, open := u.front().page.(*helpPage); open {
		u.closeFront()
		return
	}
	u.open("help", &helpPage{u: u, table: slices.Concat(u.front().Keys(), u.keys())})
}

// Keys are the keys of the page.
func (p *helpPage) Keys() []binding { return moveKeys(allUp, p.Scroll, func() int { return p.height }) }

// Scroll moves by rows.
func (p *helpPage) Scroll(by int) { p.top = max(p.top+by, 0) } // Draw limits it to the text

// Draw draws the table, wrapped.
func (p *helpPage) Draw(c canvas.Canvas) {
	var all [][2]string
	for _, b := range p.table {
		names := b.keys
		for _, text := range termtext.Wrap(b.help, max(c.W-21, 1)) {
			all = append(all, [2]string{names, text})
			names = ""
		}
	}
	p.height = max(c.H-1, 0)
	p.top = max(min(p.top, len(all)-p.height), 0)
	last := min(p.top+p.height, len(all))
	c.Title(canvas.Title{Name: "Keys", Key: "?", Focused: true,
		Right: fmt.Sprintf("%d to %d of %d", min(p.top+1, len(all)), last, len(all))})
	c.Text(8, 0, c.Dim(), view.Prefix(" ralph ", termtext.Line(p.u.o.Version))+" ")
	c = c.Rows(1, p.height)
	for y, row := range all[p.top:last] {
		c.Text(1, y, plain.Bold(true), termtext.Fit(row[0], 17))
		c.Text(20, y, plain, row[1])
	}
}
