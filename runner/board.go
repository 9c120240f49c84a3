package runner

import (
	"sync"
	"time"

	"ralph/state"
)

// board is the status.json of this run: written at every phase change, and at
// least once a second while something may have changed.
type board struct {
	mu sync.Mutex
	w  *state.Writer
	s  state.Status
}

func newBoard(w *state.Writer, s state.Status) *board { return &board{w: w, s: s} }

// update changes the status in memory; save or the next beat writes it.
func (b *board) update(f func(*state.Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.s)
}

// save writes status.json with a fresh timestamp.
func (b *board) save() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Timestamp = time.Now()
	return b.w.SaveStatus(b.s)
}
