package ptyexec

import "sync"

// Spare keeps a guard with its pty started ahead: the start of a guard takes as
// long as that of this program, some milliseconds, and with a Spare that time passes
// while the command before is running. Give the same one to the Commands that run
// one after another. The zero value is ready; a nil one does nothing. Safe for
// concurrent use.
type Spare struct {
	mu    sync.Mutex
	ready *child
	done  bool
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

// refill starts the next spare in the background. A failure shows when the next
// command is started without one.
func (s *Spare) refill() {
	if s == nil {
		return
	}
	s.mu.Lock()
	go func() {
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
	}()
}

// Close ends the spare guard. Commands may use s on, without its help.
func (s *Spare) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.ready != nil {
		s.ready.close()
		s.ready = nil
	}
}
