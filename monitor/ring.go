package monitor

import (
	"slices"

	"ralph/state/view"
)

// Bounds of the log in memory, in bytes of text. While a reader has scrolled
// back more is kept, so that what is being read stays where it is.
const (
	ringFollow = 4 << 20
	ringBack   = 12 << 20
	lineCost   = 56 // bytes of a line without its text
)

// ring holds the newest lines of a log. Lines are numbered without a gap, so
// that a place in the log survives lines coming and going at both ends.
type ring struct {
	lines []view.Line
	first int // number of lines[0]
	bytes int
}

func (r *ring) end() int { return r.first + len(r.lines) }

func (r *ring) at(n int) *view.Line { return &r.lines[n-r.first] }

// add appends lines and drops the oldest above limit bytes.
func (r *ring) add(more []view.Line, limit int) {
	r.lines = append(r.lines, more...)
	for i := range more {
		r.bytes += lineCost + len(more[i].Text)
	}
	drop := 0
	for r.bytes > limit && drop < len(r.lines)-1 {
		r.bytes -= lineCost + len(r.lines[drop].Text)
		r.lines[drop] = view.Line{}
		drop++
	}
	r.lines = r.lines[drop:]
	r.first += drop
	// Appending moves the window through its array; a fresh one releases the rest.
	if cap(r.lines) > 4*len(r.lines)+1024 {
		r.lines = slices.Clone(r.lines)
	}
}

// addOlder puts lines before the first; it reports false when they do not fit.
func (r *ring) addOlder(older []view.Line) bool {
	size := 0
	for i := range older {
		size += lineCost + len(older[i].Text)
	}
	if r.bytes+size > ringBack {
		return false
	}
	r.lines = append(slices.Clone(older), r.lines...)
	r.first -= len(older)
	r.bytes += size
	return true
}

// clear forgets the lines but not their numbers.
func (r *ring) clear() {
	r.first, r.lines, r.bytes = r.end(), nil, 0
}
