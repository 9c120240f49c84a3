package ledger

// This file writes files in the background while the run does something else.

import (
	"errors"
	"sync"
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

// writes are writes that somebody waits for later. The zero value has none. It is for one goroutine at a time.
type writes struct{ done chan error }

// begin begins writes, all at once, as soon as those before are over.
func (w *writes) begin(all ...func() error) {
	before, done := w.done, make(chan error, 1)
	w.done = done
	go func() {
		var err error
		if before != nil {
			err = <-before
		}
		done <- errors.Join(err, sideBySide(all...))
	}()
}

// wait waits for the writes and returns their error, once.
func (w *writes) wait() error {
	if w.done == nil {
		return nil
	}
	err := <-w.done
	w.done = nil
	return err
}
