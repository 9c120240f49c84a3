package ledger

import (
	"errors"
	"testing"
)

var errDisk = errors.New("the disk is full")

func TestBegun_wait_returnsTheErrorOnce(t *testing.T) {
	var b BegunWrite
	if err := b.Wait(); err != nil {
		t.Error("nothing was begun:", err)
	}
	go1, made := make(chan struct{}), 0
	b.Begin(func() error { <-go1; made++; return nil }, func() error { return errDisk })
	close(go1)
	if err := b.Wait(); !errors.Is(err, errDisk) || made != 1 {
		t.Errorf("%d made, %v", made, err)
	}
	if err := b.Wait(); err != nil {
		t.Error("again:", err)
	}
}

func TestLater_make_makesTheWriteOnce(t *testing.T) {
	var l LaterWrite
	made := 0
	l.Put(func() error { made++; return errDisk })
	if err := l.Make(); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if err := l.Make(); err != nil || made != 1 {
		t.Errorf("%d made, %v", made, err)
	}
}
