package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestDeliver_twoProcesses_sendEachEntryOnceInOrder(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var sent []int64
	var wait sync.WaitGroup
	for range 2 {
		box, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			for seq := range int64(50) {
				if err := box.Put(Entry{To: "a", Run: "r", Seq: seq, Kind: "ended"}); err != nil {
					t.Error(err)
				}
			}
			for left := 1; left > 0; {
				var err error
				left, err = box.Deliver(t.Context(), "a", func(_ context.Context, e Entry) error {
					mu.Lock()
					defer mu.Unlock()
					sent = append(sent, e.Seq)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if len(sent) != 50 {
		t.Fatalf("sent %d of 50: %v", len(sent), sent)
	}
	box, _ := Open(dir) // after a restart
	_ = box.Put(Entry{To: "a", Run: "r", Seq: 3, Kind: "ended"})
	if left, err := box.Deliver(t.Context(), "a", func(context.Context, Entry) error { t.Error("sent again"); return nil }); left != 0 || err != nil {
		t.Error(left, err)
	}
}

func TestDeliver_failure_holdsTheRunBackAndIsTriedAgainForADay(t *testing.T) {
	box, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entry{{Run: "r", Seq: 1}, {Run: "r", Seq: 2}, {Run: "s", Seq: 1}, {Run: "t", Seq: 1, Created: time.Now().Add(-25 * time.Hour)}} {
		e.To, e.Kind = "a", "ended"
		if err := box.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	var tried atomic.Int64
	send := func(_ context.Context, e Entry) error {
		tried.Add(1)
		if e.Run == "s" {
			return nil
		}
		return errors.New("down")
	}
	left, err := box.Deliver(t.Context(), "a", send)
	if left != 2 || tried.Load() != 3 || err == nil {
		t.Errorf("%d left, %d tries, %v; the second of run r waits, that of run t is given up", left, tried.Load(), err)
	}
	if left, err := box.Deliver(t.Context(), "a", send); left != 2 || tried.Load() != 3 || err != nil {
		t.Errorf("tried again at once: %d left, %d tries, %v", left, tried.Load(), err)
	}
	names, _ := box.waiting("a")
	if e, err := read(box.dir + "/" + names[0]); err != nil || e.Tries != 1 || time.Until(e.Next) > 6*time.Second {
		t.Errorf("%+v, %v", e, err)
	}
	if err := box.Put(Entry{To: "a", Run: "../x", Kind: "y"}); err == nil {
		t.Error(fmt.Errorf("a name that leads out is taken"))
	}
}
