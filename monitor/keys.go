package monitor

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/state/view/summary"
)

// binding is one row of the key table. Dispatch, the help page and the last row of the
// screen use it.
type binding struct {
	keys  string // names, separated by spaces
	short string // for the last row; empty: in the help only
	help  string
	do    func(*ui)
	alive bool // needs a living runner
}

func bindings() []binding {
	return []binding{
		{"p", "pause", "pause after this iteration, or resume", (*ui).pauseOrResume, true},
		{"s", "skip", "end this iteration and take the next task (asks first)", func(u *ui) { u.askBefore("skip") }, true},
		{"a", "abort", "end the run now (asks first)", func(u *ui) { u.askBefore("abort") }, true},
		{"l", "log", "live log only, and back", func(u *ui) { u.show(panelLog) }, false},
		{"r enter", "review", "review the iteration: checks, findings, diff; left and right: the previous and the next one", (*ui).openReview, false},
		{"R", "", "raw output of the iteration", (*ui).openRaw, false},
		{"o", "open", "open a clean copy of what is shown in $PAGER", func(u *ui) { u.openWith(inPager) }, false},
		{"e", "", "open what is shown in $EDITOR: the file of a log, or a copy of a review", func(u *ui) { u.openWith(inEditor) }, false},
		{"/", "search", "search backwards; a query in lower case matches any case", (*ui).askSearch, false},
		{"i", "note", "write a note into the next prompt", (*ui).askForNote, false},
		{"n", "", "next match, towards older lines", func(u *ui) { u.search(-1) }, false},
		{"N", "", "next match, towards newer lines", func(u *ui) { u.search(1) }, false},
		{"f", "", "follow the end of the log, or stop", (*ui).toggleFollow, false},
		{"w", "", "wrap long lines, or cut them", (*ui).toggleWrap, false},
		{"tab backtab", "", "move between iterations and log", (*ui).nextFocus, false},
		{"up k", "", "one row up", func(u *ui) { u.scroll(-1) }, false},
		{"down j", "", "one row down", func(u *ui) { u.scroll(1) }, false},
		{"pgup b ctrl-u", "", "one screen up", func(u *ui) { u.scroll(-u.screenful()) }, false},
		{"pgdn space ctrl-d", "", "one screen down", func(u *ui) { u.scroll(u.screenful()) }, false},
		{"g home", "", "the beginning", (*ui).toStart, false},
		{"G end", "", "the end", (*ui).toEnd, false},
		{"left", "", "scroll an unwrapped log to the left", func(u *ui) { u.sideways(-1) }, false},
		{"right", "", "scroll an unwrapped log to the right", func(u *ui) { u.sideways(1) }, false},
		{"1 2 3 4 5 6 7 8 9", "", "one panel alone, by the number in its title", (*ui).showNumber, false},
		{"m", "", "mouse on or off; when off, the terminal selects text", (*ui).toggleMouse, false},
		{"ctrl-l", "", "redraw the screen", func(u *ui) { u.wake(wakeSync) }, false},
		{"ctrl-z", "", "suspend to the shell", (*ui).toShell, false},
		{"esc", "", "back", (*ui).back, false},
		{"? h", "help", "this page, and back", (*ui).toggleHelp, false},
		{"q ctrl-c", "quit", "quit this screen; the run continues", (*ui).quit, false},
	}
}

// keyName returns the name of a key in the table.
func keyName(e *tcell.EventKey) string {
	if e.Key() == tcell.KeyRune {
		if e.Rune() == ' ' {
			return "space"
		}
		return string(e.Rune())
	}
	switch e.Key() {
	case tcell.KeyPgUp:
		return "pgup"
	case tcell.KeyPgDn:
		return "pgdn"
	}
	return strings.ToLower(tcell.KeyNames[e.Key()])
}

// dispatch maps every name to its action.
func dispatch(table []binding) map[string]func(*ui) {
	all := map[string]func(*ui){}
	for _, b := range table {
		for name := range strings.FieldsSeq(b.keys) {
			all[name] = b.do
		}
	}
	return all
}

// drawKeys draws the keys that work now. Help and quit get space first.
func drawKeys(c canvas, table []binding, v summary.Summary) {
	hint := func(b binding) (string, string) {
		key, _, _ := strings.Cut(b.keys, " ")
		if b.short == "pause" && v.Resumable {
			return key, "resume"
		}
		return key, b.short
	}
	var shown []binding
	room := c.w - 2
	for _, last := range []bool{true, false} {
		for _, b := range table {
			key, short := hint(b)
			w, acts := len(key)+len(short)+3, short != "" && (v.Alive || !b.alive)
			if acts && last == (key == "?" || key == "q") && w <= room+2 {
				shown = append(shown, b)
				room -= w
			}
		}
	}
	x := 1
	for _, b := range table {
		for _, s := range shown {
			if s.keys != b.keys {
				continue
			}
			key, short := hint(b)
			x = c.text(x, 0, plain.Bold(true), key)
			x = c.text(x, 0, c.dim(), " "+short) + 2
		}
	}
}

// drawHelp draws the table, wrapped, from row top, or from the last row that still
// fills the screen. It returns the row that it used.
func drawHelp(c canvas, table []binding, top int) int {
	var all [][2]string
	for _, b := range table {
		names, start := b.keys, 0
		if strings.HasPrefix(names, "1 2") {
			names = "1..9"
		}
		for _, end := range rows(b.help, max(c.w-21, 1)) {
			all = append(all, [2]string{names, b.help[start:end]})
			names, start = "", end
		}
	}
	room := max(c.h-1, 0)
	top = max(min(top, len(all)-room), 0)
	c.title(title{"Keys", "?", fmt.Sprintf("%d to %d of %d", min(top+1, len(all)), min(top+room, len(all)), len(all)), true, ""})
	c = c.rows(1, room)
	for y, row := range all[top:min(top+room, len(all))] {
		c.text(1, y, plain.Bold(true), termtext.Fit(row[0], 17))
		c.text(20, y, plain, row[1])
	}
	return top
}
