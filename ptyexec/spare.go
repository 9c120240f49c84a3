package ptyexec

import (
	"sync"
	"time"
)

// Spare keeps a guard with its pty ready. A guard takes some milliseconds to start, like
// this program; with a Spare, that happens while the previous command runs. Share one
// among Commands that run one after another. The zero value is ready to use; a nil Spare
// does nothing. It is safe for concurrent use.
type Spare struct {
	mu    sync.Mutex
	ready *child
	done  bool
	going sync.WaitGroup // guards that are about to end
}

// take returns the spare, or nil.
func (s *Spare) take() *child {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.ready
	s.ready = nil
	return ch
}

// spareDelay delays the start of a spare, so that it does not compete with the start of the child.
const spareDelay = 100 * time.Millisecond

// refill starts the next spare in the background, a little later. If that fails, the next command
// starts without one and reports why.
func (s *Spare) refill() {
	if s != nil {
		time.AfterFunc(spareDelay, s.fill)
	}
}

func (s *Spare) fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil || s.done {
		return
	}
	ch, err := newChild(true)
	if err != nil {
		ch.close()
		return
	}
	s.ready = ch
}

// reap waits for the guard of a command that is over; with a Spare, in the background: nothing of the
// command is left, and a guard takes a millisecond to go.
func (s *Spare) reap(ch *child) {
	if s == nil {
		ch.reap()
		return
	}
	s.going.Go(ch.reap)
}

// Close ends the spare guard and waits until no guard is left. Commands may still use s, but without its help.
func (s *Spare) Close() {
	defer s.going.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.ready != nil {
		s.ready.close()
		s.ready = nil
	}
}
