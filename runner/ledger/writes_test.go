package ledger

import (
	"errors"
	"testing"
)

var errDisk = errors.New("the disk is full")

func TestBegun_wait_returnsTheErrorOnce(t *testing.T) {
	var b writes
	if err := b.wait(); err != nil {
		t.Error("nothing was begun:", err)
	}
	go1, made := make(chan struct{}), 0
	b.begin(func() error { <-go1; made++; return nil }, func() error { return errDisk })
	close(go1)
	if err := b.wait(); !errors.Is(err, errDisk) || made != 1 {
		t.Errorf("%d made, %v", made, err)
	}
	if err := b.wait(); err != nil {
		t.Error("again:", err)
	}
}
