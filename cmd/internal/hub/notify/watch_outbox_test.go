package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ralph/state/projectfs"
)

func TestDeliver_twoProcesses_sendEachEntryOnceInOrder(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var sent []int64
	var wait sync.WaitGroup
	for range 2 {
		box, err := openOutbox(dir)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			for seq := range int64(50) {
				if err := box.Put(outboxEntry{To: "a", Run: "r", Seq: seq, Kind: "ended"}); err != nil {
					t.Error(err)
				}
			}
			for left := 1; left > 0; {
				var err error
				left, err = box.Deliver(t.Context(), "a", func(_ context.Context, e outboxEntry) error {
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
	box, _ := openOutbox(dir) // after a restart
	_ = box.Put(outboxEntry{To: "a", Run: "r", Seq: 3, Kind: "ended"})
	if left, err := box.Deliver(t.Context(), "a", func(context.Context, outboxEntry) error { t.Error("sent again"); return nil }); left != 0 || err != nil {
		t.Error(left, err)
	}
}

// An agent can put a link in the place of the folder at any time, or of what is in it.
func TestBox_linksPlanted_nothingIsWrittenOutside(t *testing.T) {
	for name, plant := range map[string]func(dir, outside string) error{
		"folder": func(dir, outside string) error { return errors.Join(os.RemoveAll(dir), os.Symlink(outside, dir)) },
		"state": func(dir, outside string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(dir)), os.Symlink(filepath.Dir(outside), filepath.Dir(dir)))
		},
		"lock": func(dir, outside string) error {
			return os.Symlink(filepath.Join(outside, "made"), filepath.Join(dir, "a.lock"))
		},
		"lock, no file": func(dir, _ string) error { return syscall.Mkfifo(filepath.Join(dir, "a.lock"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir, outside := filepath.Join(base, "p", ".ralph", "hub"), filepath.Join(base, "outside", "hub")
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(outside, 0o700)); err != nil {
				t.Fatal(err)
			}
			box, err := openOutbox(dir)
			if err != nil {
				t.Fatal(err)
			}
			first := box.Put(outboxEntry{To: "a", Run: "r", Seq: 1, Kind: "ended"})
			if err := errors.Join(first, plant(dir, outside)); err != nil {
				t.Fatal(err)
			}
			put := box.Put(outboxEntry{To: "a", Run: "r", Seq: 2, Kind: "ended"})
			_, sent := box.Deliver(t.Context(), "a", func(context.Context, outboxEntry) error { return nil })
			if err := errors.Join(put, sent); projectfs.Refused(err) == nil {
				t.Errorf("nothing was refused: %v", err)
			}
			if made, _ := os.ReadDir(outside); len(made) > 0 {
				t.Errorf("written outside: %v", made)
			}
		})
	}
}

func TestDeliver_failure_holdsTheRunBackAndIsTriedAgainForADay(t *testing.T) {
	box, err := openOutbox(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []outboxEntry{{Run: "r", Seq: 1}, {Run: "r", Seq: 2}, {Run: "s", Seq: 1}, {Run: "t", Seq: 1, Created: time.Now().Add(-25 * time.Hour)}} {
		e.To, e.Kind = "a", "ended"
		if err := box.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	var tried atomic.Int64
	send := func(_ context.Context, e outboxEntry) error {
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
	if e, err := box.read(box.dir + "/" + names[0]); err != nil || e.Tries != 1 || time.Until(e.Next) > 6*time.Second {
		t.Errorf("%+v, %v", e, err)
	}
	if err := box.Put(outboxEntry{To: "a", Run: "../x", Kind: "y"}); err == nil {
		t.Error(fmt.Errorf("a name that leads out is taken"))
	}
}

// day is what became of a message to a service that answers again after a while.
type day struct {
	tries []time.Duration // since the message was put in
	sent  int
	lost  error
}

func dayOf(t *testing.T, down time.Duration) (d day) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		box, err := openOutbox(dir)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := box.Put(outboxEntry{To: "a", Run: "r", Seq: 1, Kind: "ended"}); err != nil {
			t.Fatal(err)
		}
		deliver := func() (left int) {
			left, err := box.Deliver(t.Context(), "a", func(context.Context, outboxEntry) error {
				at := time.Since(began)
				if d.tries = append(d.tries, at); at < down {
					return errors.New("down")
				}
				d.sent++
				return nil
			})
			d.lost = errors.Join(d.lost, err)
			return left
		}
		for deliver() > 0 && time.Since(began) < 30*time.Hour {
			names, _ := box.waiting("a")
			e, err := box.read(filepath.Join(dir, names[0]))
			if err != nil {
				t.Fatal(err)
			}
			tried := len(d.tries)
			time.Sleep(time.Until(e.Next) - time.Second) // sleep: the clock is a fake
			if deliver(); len(d.tries) > tried {
				t.Fatal("tried before its time")
			}
			time.Sleep(time.Second) // sleep: the clock is a fake
		}
	})
	return d
}

func TestDeliver_serviceThatIsDown_isTriedWithLongerWaitsForADay(t *testing.T) {
	d := dayOf(t, 48*time.Hour)
	last := d.tries[len(d.tries)-1]
	if d.sent > 0 || d.lost == nil || last < 24*time.Hour || last > 24*time.Hour+maxWait {
		t.Errorf("sent %d, given up after %s: %v", d.sent, last, d.lost)
	}
	for i := 2; i < len(d.tries); i++ {
		wait, before := d.tries[i]-d.tries[i-1], d.tries[i-1]-d.tries[i-2]
		if wait < before || wait > maxWait {
			t.Fatalf("try %d after %s, the one before after %s", i+1, wait, before)
		}
	}
	if n := len(d.tries); n < 90 || n > 120 {
		t.Errorf("%d tries in a day", n)
	}
}

func TestDeliver_serviceThatComesBackAtTheEndOfTheDay_getsTheMessageOnce(t *testing.T) {
	const down = 23 * time.Hour
	if d := dayOf(t, down); d.sent != 1 || d.lost != nil || d.tries[len(d.tries)-1] > down+maxWait {
		t.Errorf("sent %d, %v, last tried after %s", d.sent, d.lost, d.tries[len(d.tries)-1])
	}
}

func TestDeliver_tornFile_isNamedOnce(t *testing.T) {
	dir := t.TempDir()
	box, err := openOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "to.run.1.json")
	if err := os.WriteFile(torn, []byte(`{"run":`), 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(context.Context, outboxEntry) error { return nil }
	if _, err := box.Deliver(t.Context(), "to", send); err == nil || !strings.Contains(err.Error(), torn) {
		t.Errorf("%v, want %s", err, torn)
	}
	if left, err := box.Deliver(t.Context(), "to", send); left != 0 || err != nil {
		t.Errorf("again: %d left, %v", left, err)
	}
}
