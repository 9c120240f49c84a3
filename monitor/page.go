package monitor

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"ralph/monitor/canvas"
	"ralph/state/view"
)

// page is what is on the screen above the last row. The pages are a stack: a key opens one, esc goes back. To add
// one, write its file and add a row to pageKeys. A page is only called while the ui is locked.
type page interface {
	Keys() []binding
	Draw(c canvas.Canvas)
	Scroll(by int) // by rows, up for a negative number
}

// What a page can do besides.
type (
	// updater takes what has happened in the run.
	updater interface{ Update(up view.Update) }
	// clicker selects what is at a column and a row below its title.
	clicker interface{ Click(x, y int) }
	// backer closes a part of the page. It returns false if there is none: then the page is closed.
	backer interface{ Back() bool }
)

// binding is one row of a table of keys.
type binding struct {
	keys  string // names, separated by spaces
	short string // for the last row; empty: in the help only
	help  string
	do    func()
}

// region is a part of the screen that is drawn by a function.
type region struct {
	*tview.Box
	u    *ui
	draw func(c canvas.Canvas)
}

// plain is the style of most text.
var plain = tcell.StyleDefault

// Draw draws it.
func (d *region) Draw(screen tcell.Screen) {
	x, y, w, h := d.GetRect()
	d.draw(canvas.Canvas{Screen: screen, X: x, Y: y, W: w, H: h, Theme: d.u.theme})
}

// sheet is a page in tview.Pages.
type sheet struct {
	*region
	page page
	name string // where the screen is
	key  string // that opened it: it also closes it, unless the page has another use for it
}

// open puts a page on the stack, in the place of an open page of this name.
func (u *ui) open(name string, p page) {
	s := &sheet{&region{tview.NewBox(), u, p.Draw}, p, name, u.pressed}
	if old, ok := u.pages.GetPage(name).(*sheet); ok {
		s.key = old.key
	}
	u.pages.AddAndSwitchToPage(name, s, true)
}

// front is the page at the top of the stack.
func (u *ui) front() *sheet {
	_, top := u.pages.GetFrontPage()
	return top.(*sheet)
}

// stack lists the pages, the run's screen first.
func (u *ui) stack() (all []*sheet) {
	for _, name := range slices.Backward(u.pages.GetPageNames(false)) { // tview names the one in front first
		all = append(all, u.pages.GetPage(name).(*sheet))
	}
	return all
}

// back closes what is open: an error message, a part of the page, or the page itself.
func (u *ui) back() {
	top := u.front()
	p, parts := top.page.(backer)
	switch {
	case u.failure != "":
		u.failure = ""
	case parts && p.Back():
	default:
		u.closeFront()
	}
}

// closeFront goes back to the page below. The run's screen stays.
func (u *ui) closeFront() {
	if name, _ := u.pages.GetFrontPage(); u.pages.GetPageCount() > 1 {
		u.pages.RemovePage(name)
	}
}

// press runs the binding of a key: of the page at the top, or else of the screen.
func (u *ui) press(name string) {
	top := u.front()
	u.pressed = name
	for _, b := range slices.Concat(top.page.Keys(), u.keys()) {
		if slices.Contains(strings.Fields(b.keys), name) {
			b.do()
			return
		}
	}
	if name == top.key {
		u.closeFront()
	}
}

// far is more rows than any page has: it scrolls to either end.
const far = 1 << 30

// moveKeys are the rows that scroll; screenful is how far a page key moves. Up is the keys for a screen up: not every
// page has all of them free.
func moveKeys(up string, scroll func(by int), screenful func() int) []binding {
	return []binding{
		{"up k", "", "one row up", func() { scroll(-1) }},
		{"down j", "", "one row down", func() { scroll(1) }},
		{up, "", "one screen up", func() { scroll(-screenful()) }},
		{"pgdn space ctrl-d", "", "one screen down", func() { scroll(screenful()) }},
		{"g home", "", "the beginning", func() { scroll(-far) }},
		{"G end", "", "the end", func() { scroll(far) }},
	}
}

const allUp = "pgup b ctrl-u"

// keyName returns the name of a key in a table.
func keyName(e *tcell.EventKey) string {
	switch {
	case e.Key() == tcell.KeyRune && e.Rune() == ' ':
		return "space"
	case e.Key() == tcell.KeyRune:
		return string(e.Rune())
	}
	return strings.ToLower(tcell.KeyNames[e.Key()])
}

// keySpot is where a key is named in the last row, from column X up to End.
type keySpot struct {
	X, End int
	Key    string
}

// drawKeyRow draws the keys of a page in one row and returns their positions. Help and quit get space first.
func drawKeyRow(c canvas.Canvas, table []binding) (spots []keySpot) {
	shown := make([]bool, len(table))
	room := c.W - 2
	first := func(b binding) string { return strings.Fields(b.keys)[0] }
	for _, last := range []bool{true, false} {
		for i, b := range table {
			w := len(first(b)) + len(b.short) + 3
			if b.short != "" && last == (b.keys == "?" || first(b) == "q") && w <= room+2 {
				shown[i] = true
				room -= w
			}
		}
	}
	x := 1
	for i, b := range table {
		if shown[i] {
			end := c.Text(c.Text(x, 0, plain.Bold(true), first(b)), 0, c.Dim(), " "+b.short)
			spots = append(spots, keySpot{c.X + x, c.X + end, first(b)})
			x = end + 2
		}
	}
	return spots
}
