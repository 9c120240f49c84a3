package ledger

// This file writes files in the background while the run does something else.

import (
	"errors"
	"sync"
	"sync/atomic"
)

// SideBySide makes all writes at once and waits for them: each waits for the disk.
func SideBySide(all ...func() error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, write := range all {
		wait.Go(func() { errs[i] = write() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// BegunWrite are writes that somebody waits for later. The zero value has none. It is for one
// goroutine at a time.
type BegunWrite struct{ done chan error }

// Begin begins the writes. Wait must have been called since the last time.
func (b *BegunWrite) Begin(all ...func() error) {
	done := make(chan error, 1)
	b.done = done
	go func() { done <- SideBySide(all...) }()
}

// Wait waits for the writes and returns their error, once.
func (b *BegunWrite) Wait() error {
	if b.done == nil {
		return nil
	}
	err := <-b.done
	b.done = nil
	return err
}

// LaterWrite holds one write that can wait. It is safe for concurrent use, and its zero value
// holds none.
type LaterWrite struct{ write atomic.Pointer[func() error] }

// Put holds a write in place of one that was not made.
func (l *LaterWrite) Put(write func() error) { l.write.Store(&write) }

// Make makes the write, if there is one.
func (l *LaterWrite) Make() error {
	write := l.write.Swap(nil)
	if write == nil {
		return nil
	}
	return (*write)()
}
