package ptyexec

import "sync"

// Spare keeps a guard with its pty ready. Its start takes some milliseconds, like
// that of this program; with a Spare that time passes while the command before is
// running. Share one among Commands that run one after another. The zero value is
// ready; a nil one does nothing. It is safe for concurrent use.
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

// refill starts the next spare in the background. If that fails, the next command
// starts without one and reports why.
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

// Close ends the spare guard. Commands may still use s, but without its help.
func (s *Spare) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.ready != nil {
		s.ready.close()
		s.ready = nil
	}
}
