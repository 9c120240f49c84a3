package follow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

// bound is how long something may take on a busy machine.
const bound = time.Minute

// watched is a Follower whose events are collected until the test ends.
type watched struct {
	*Follower
	model  view.Model
	events []state.Event
	looks  int // in lookUntil
}

func watch(t *testing.T, dir string) *watched {
	t.Helper()
	w := &watched{Follower: New(dir, time.Now)}
	t.Cleanup(w.Close)
	w.look()
	return w
}

func (w *watched) look() {
	up := w.Poll()
	w.events = append(w.events, up.Events...)
	w.model.Apply(up)
}

func (w *watched) lookUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	for !ok() {
		if !w.Wait(ctx) {
			t.Fatalf("no %s within %v; state %q, %d events", what, bound, w.model.State, len(w.events))
		}
		w.look()
		w.looks++
	}
}

func (w *watched) saw(text string) func() bool {
	return func() bool {
		return slices.ContainsFunc(w.events, func(e state.Event) bool { return e.Data == state.Payload(state.Text{Text: text}) })
	}
}

func TestFollower_stateDirectoryAppearsLater_isFollowed(t *testing.T) {
	p := sample.Empty(t)
	w := watch(t, p.Dir)
	if w.model.State != view.StateNone {
		t.Fatalf("an empty folder is %q", w.model.State)
	}
	s, _ := sample.Run(time.Now())
	p.Lock(s.Owner)
	p.JSON("status.json", s.Status)
	p.Add(sample.Say("hello"))
	w.lookUntil(t, "event", w.saw("hello"))
	w.lookUntil(t, "state", func() bool { return w.model.State == state.StatusRunning || w.model.State == view.StateCrashed })
}

func TestFollower_eventsRotatedTruncatedTornOrJunk_goesOn(t *testing.T) {
	s, _ := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, []state.Event{sample.Say("first")})
	path := filepath.Join(p.StateDir(), "events.jsonl")
	w := watch(t, p.Dir)
	w.lookUntil(t, "first", w.saw("first"))

	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	p.Add(sample.Say("after rotation"))
	w.lookUntil(t, "event after rotation", w.saw("after rotation"))

	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	w.look()
	p.Add(sample.Say("after truncation"))
	w.lookUntil(t, "event after truncation", w.saw("after truncation"))

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintf(file, "not json\n{}\n[1,2]\n%s\n{\"v\":2,\"kind\":\"text\",\"data\":{\"text\":\"ha", strings.Repeat("z", 2<<20))
	w.look()
	fmt.Fprint(file, "lf\"}}\n")
	w.lookUntil(t, "torn event", w.saw("half"))

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.look()
	p.Add(sample.Say("after removal"))
	w.lookUntil(t, "event after removal", w.saw("after removal"))
}

func TestFollower_stateDirectoryReplaced_isFollowed(t *testing.T) {
	s, _ := sample.Run(time.Now())
	s.Alive = false
	p := sample.New(t, s, []state.Event{sample.Say("old")})
	w := watch(t, p.Dir)
	w.lookUntil(t, "old", w.saw("old"))
	if err := os.RemoveAll(p.StateDir()); err != nil {
		t.Fatal(err)
	}
	w.lookUntil(t, "end of the run", func() bool { return w.model.State == view.StateNone })
	if err := os.MkdirAll(p.StateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Status.Status = state.StatusCompleted
	p.JSON("status.json", s.Status)
	p.Add(sample.Say("new"))
	w.lookUntil(t, "new", w.saw("new"))
	w.lookUntil(t, "new state", func() bool { return w.model.State == state.StatusCompleted })
}

func TestFollower_runnerKilled_isDeadWithinFiveLooks(t *testing.T) {
	s, events := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, events)
	w := watch(t, p.Dir)
	w.lookUntil(t, "living run", func() bool { return w.model.State == state.StatusRunning })
	w.looks = 0
	p.Release()
	w.lookUntil(t, "dead run", func() bool { return w.model.State == view.StateCrashed })
	if w.looks > 5 { // which are at most a second apart
		t.Errorf("it took %d looks", w.looks)
	}
}

func TestFollower_idle_looksOnceASecondAndAtMost25TimesInABusyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{reader: state.Open("/nowhere"), kick: make(chan struct{}, 1), idle: pollIdle, polled: time.Now()}
		count := func(busy bool) (n int) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if busy {
				f.Poke()
			}
			for f.Wait(ctx) {
				f.polled = time.Now()
				if n++; busy {
					f.Poke()
				}
			}
			return n
		}
		if n := count(false); n < 9 || n > 10 {
			t.Errorf("%d looks in 10 idle seconds", n)
		}
		f.idle = pollBlind
		if n := count(false); n < 39 || n > 41 { // the first is due at once, the last when the time is up
			t.Errorf("%d looks in 10 seconds without announcements", n)
		}
		if n := count(true); n < 200 || n > 251 {
			t.Errorf("%d looks in 10 busy seconds", n)
		}
	})
}

// A run of a whole night rotates its events; who looks in the morning sees it all.
func TestFollower_begunAfterRotations_knowsTheWholeRun(t *testing.T) {
	s, events := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, events[:10])
	old := filepath.Join(p.StateDir(), "events-2026-11-20T10-00-00.000.jsonl")
	if err := os.Rename(p.Reader().EventsPath(), old); err != nil {
		t.Fatal(err)
	}
	p.Add(events[10:]...)
	w := watch(t, p.Dir)
	if n := len(w.model.Run.Iterations); n != 7 || w.model.Run.Iterations[0].Files != 5 || len(w.events) != len(events)-10 {
		t.Errorf("%d iterations, %d events", n, len(w.events))
	}
	p.Add(state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: 8}, time.Now(), state.IterationStart{}))
	w.lookUntil(t, "iteration 8", func() bool { return len(w.model.Run.Iterations) == 8 })
}

func TestFollower_readOnlyCopy_createsNothing(t *testing.T) {
	s, events := sample.Run(time.Now())
	s.Alive = false
	p := sample.New(t, s, events)
	before, _ := os.ReadDir(p.StateDir())
	if err := os.Chmod(p.StateDir(), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.StateDir(), 0o700) })
	w := watch(t, p.Dir)
	if m := w.model; m.State != view.StateCrashed || len(m.Run.Iterations) != 7 || !m.Run.Iterations[6].CutOff {
		t.Errorf("the copy shows %q and %d iterations", m.State, len(m.Run.Iterations))
	}
	if after, _ := os.ReadDir(p.StateDir()); len(after) != len(before) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
}
