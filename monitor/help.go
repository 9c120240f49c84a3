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
	*logPage
	table []binding
}

// openHelp shows what each key does.
func (u *ui) openHelp() {
	if _, open := u.front().page.(*helpPage); open {
		u.closeFront()
		return
	}
	p := &helpPage{newText(u, "Keys", "?", nil), slices.Concat(u.front().page.Keys(), u.keys())}
	p.about, p.bare = view.Prefix("ralph ", termtext.Line(u.o.Version)), true
	p.remake = func() []view.Line { return p.logView.lines }
	u.open("help", p)
}

// Draw draws the table, wrapped.
func (p *helpPage) Draw(c canvas.Canvas) {
	var all []view.Line
	for _, b := range p.table {
		names := b.keys
		for _, text := range termtext.Wrap(b.help, max(c.W-21, 1)) {
			all = append(all, view.Line{Text: fmt.Sprintf("%-18s %s", names, text)})
			names = ""
		}
	}
	p.replace(all)
	p.logPage.Draw(c)
}
