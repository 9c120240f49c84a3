package monitor

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/monitor/canvas"
)

// keyHint is one row of a table of keys, as people see it.
type keyHint struct {
	Keys  string // names, separated by spaces; 1..9 are all digits between
	Short string // for the last row; empty: in the help only
	Help  string
}

// keyNames are the names of keys in a table.
func keyNames(keys string) (names []string) {
	for name := range strings.FieldsSeq(keys) {
		first, last, all := strings.Cut(name, "..")
		if !all || len(first) != 1 || len(last) != 1 {
			names = append(names, name)
			continue
		}
		for c := first[0]; c <= last[0]; c++ {
			names = append(names, string(rune(c)))
		}
	}
	return names
}

// key is the one that the last row names.
func (h keyHint) key() string {
	key, _, _ := strings.Cut(h.Keys, " ")
	return key
}

// keyName returns the name of a key in a table.
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

// keySpot is where a key is named in the last row, from column X up to End.
type keySpot struct {
	X, End int
	Key    string
}

// drawKeyRow draws the keys that work now in one row and returns their positions. Help and quit get space first.
func drawKeyRow(c canvas.Canvas, table []keyHint) []keySpot {
	shown := make([]bool, len(table))
	room := c.W - 2
	for _, last := range []bool{true, false} {
		for i, h := range table {
			w := len(h.key()) + len(h.Short) + 3
			if h.Short != "" && last == (h.key() == "?" || h.key() == "q") && w <= room+2 {
				shown[i] = true
				room -= w
			}
		}
	}
	x := 1
	var spots []keySpot
	for i, h := range table {
		if shown[i] {
			end := c.Text(c.Text(x, 0, tcell.StyleDefault.Bold(true), h.key()), 0, c.Dim(), " "+h.Short)
			spots = append(spots, keySpot{c.X + x, c.X + end, h.key()})
			x = end + 2
		}
	}
	return spots
}

// keyEvent returns the terminal event for a key name, or nil for an unknown name.
func keyEvent(name string) *tcell.EventKey {
	if name == "space" {
		name = " "
	}
	if r := []rune(name); len(r) == 1 {
		return tcell.NewEventKey(tcell.KeyRune, r[0], tcell.ModNone)
	}
	for key, known := range tcell.KeyNames {
		if strings.ToLower(known) == name {
			return tcell.NewEventKey(key, 0, tcell.ModNone)
		}
	}
	return nil
}

// drawHelp draws the table, wrapped, from row top, or from the last row that still
// fills the screen. It returns the row that it used.
func drawHelp(c canvas.Canvas, table []keyHint, top int) int {
	var all [][2]string
	for _, h := range table {
		names := h.Keys
		for _, text := range termtext.Wrap(h.Help, max(c.W-21, 1)) {
			all = append(all, [2]string{names, text})
			names = ""
		}
	}
	room := max(c.H-1, 0)
	top = max(min(top, len(all)-room), 0)
	c.Title(canvas.Title{Name: "Keys", Key: "?", Focused: true,
		Right: fmt.Sprintf("%d to %d of %d", min(top+1, len(all)), min(top+room, len(all)), len(all))})
	c = c.Rows(1, room)
	for y, row := range all[top:min(top+room, len(all))] {
		c.Text(1, y, tcell.StyleDefault.Bold(true), termtext.Fit(row[0], 17))
		c.Text(20, y, tcell.StyleDefault, row[1])
	}
	return top
}
