package monitor

import (
	"os"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	kept "ralph/state/note"
)

// noteSign remembers how many notes wait for a prompt.
type noteSign struct {
	waiting int
	changed time.Time // the folder, when it was read
}

// read counts again if the folder has changed.
func (n noteSign) read(r *state.Reader) noteSign {
	info, err := os.Stat(r.NotesDir())
	if err != nil {
		return noteSign{}
	}
	if info.ModTime().Equal(n.changed) {
		return n
	}
	n = noteSign{changed: info.ModTime()}
	all, _ := kept.In(r).List() // if notes cannot be read, none is counted
	for _, one := range all {
		if one.Waits() {
			n.waiting++
		}
	}
	return n
}

// text is what the first row shows; empty: no note waits.
func (n noteSign) text() string {
	switch n.waiting {
	case 0:
		return ""
	case 1:
		return "a note waits"
	}
	return termtext.Count(n.waiting, "note") + " wait"
}
