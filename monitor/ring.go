package monitor

import (
	"slices"

	"ralph/state/view"
)

// Limits on the log in memory, in bytes. A log that is scrolled back keeps more, so
// that the text does not move while the user reads it.
const (
	ringFollow = 4 << 20
	ringBack   = 12 << 20
	lineCost   = 56 // of a line without its text
)

// ring holds the newest lines of a log. Lines are numbered consecutively, so that a
// place in the log stays valid while lines are added and dropped.
type ring struct {
	lines []view.Line
	first int // number of lines[0]
	bytes int
}

func (r *ring) end() int { return r.first + len(r.lines) }

func (r *ring) at(n int) *view.Line { return &r.lines[n-r.first] }

// add appends lines and drops the oldest beyond limit bytes.
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
	// The slice moves through its array. A copy frees the unused part.
	if cap(r.lines) > 4*len(r.lines)+1024 {
		r.lines = slices.Clone(r.lines)
	}
}

// addOlder adds lines before the first. It reports false if they do not fit.
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

// clear drops the lines and keeps the numbering.
func (r *ring) clear() {
	r.first, r.lines, r.bytes = r.end(), nil, 0
}
