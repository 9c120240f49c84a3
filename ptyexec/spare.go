package ptyexec

import "sync"

// Spare keeps a started guard with its pty ready. Starting one takes some milliseconds;
// a Spare does it while the previous command runs. Share one among Commands that run
// one after another. The zero value is ready to use, nil does nothing. It is safe for
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

// refill starts the next spare in the background. If that fails, the next command
// starts its own guard and reports the error.
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

// Close ends the spare guard. Commands with s still work, but start their own guards.
func (s *Spare) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.ready != nil {
		s.ready.close()
		s.ready = nil
	}
}
