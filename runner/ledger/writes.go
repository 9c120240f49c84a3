package ledger

// This file writes files in the background while the run does something else.

import (
	"errors"
	"sync"
	"sync/atomic"
)

// sideBySide makes all writes at once and waits for them: each waits for the disk.
func sideBySide(all ...func() error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, write := range all {
		wait.Go(func() { errs[i] = write() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// write are writes that somebody waits for later. The zero value has none. It is for one
// goroutine at a time.
type write struct{ done chan error }

// begin begins the writes. wait must have been called since the last time.
func (b *write) begin(all ...func() error) {
	done := make(chan error, 1)
	b.done = done
	go func() { done <- sideBySide(all...) }()
}

// wait waits for the writes and returns their error, once.
func (b *write) wait() error {
	if b.done == nil {
		return nil
	}
	err := <-b.done
	b.done = nil
	return err
}

// later holds one write that can wait. It is safe for concurrent use, and its zero value
// holds none.
type later struct{ write atomic.Pointer[func() error] }

// put holds a write in place of one that was not made.
func (l *later) put(write func() error) { l.write.Store(&write) }

// flush makes the write, if there is one.
func (l *later) flush() error {
	write := l.write.Swap(nil)
	if write == nil {
		return nil
	}
	return (*write)()
}
