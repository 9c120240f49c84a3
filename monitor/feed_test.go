package monitor

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

	"ralph/state"
)

// watched is a feed whose events are collected until the test ends.
type watched struct {
	*feed
	u      *ui
	events []state.Event
	looks  int // in lookUntil
}

func watchProject(t *testing.T, dir string) *watched {
	t.Helper()
	w := &watched{feed: newFeed(dir, time.Now)}
	w.u = newUI(Options{Now: time.Now}, w.feed)
	t.Cleanup(w.close)
	w.look()
	return w
}

func (w *watched) look() {
	up := w.poll()
	w.events = append(w.events, up.events...)
	w.u.apply(up)
}

func (w *watched) lookUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	for !ok() {
		if !w.wait(ctx) {
			t.Fatalf("no %s within %v; state %q, %d events", what, bound, w.snap.State, len(w.events))
		}
		w.look()
		w.looks++
	}
}

func (w *watched) saw(text string) func() bool {
	return func() bool {
		return slices.ContainsFunc(w.events, func(e state.Event) bool { return e.Text == text })
	}
}

func say(text string) state.Event {
	return state.Event{Time: time.Now(), Run: "r", Iteration: 1, Kind: state.KindText, Text: text}
}

func TestFeed_stateDirectoryAppearsLater_isFollowed(t *testing.T) {
	p := &project{t: t, dir: t.TempDir()}
	w := watchProject(t, p.dir)
	if w.snap.State != StateNone {
		t.Fatalf("an empty folder is %q", w.snap.State)
	}
	s, _ := runOf(time.Now())
	writer, _, err := state.Acquire(p.stateDir(), s.Owner)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Release()
	p.json("status.json", s.Status)
	p.add(say("hello"))
	w.lookUntil(t, "event", w.saw("hello"))
	w.lookUntil(t, "state", func() bool { return w.snap.State == state.StatusRunning || w.snap.State == StateDead })
}

func TestFeed_eventsRotatedTruncatedTornOrJunk_goesOn(t *testing.T) {
	s, _ := runOf(time.Now())
	s.Owner.PID = os.Getpid()
	p := newProject(t, s, []state.Event{say("first")})
	path := filepath.Join(p.stateDir(), "events.jsonl")
	w := watchProject(t, p.dir)
	w.lookUntil(t, "first", w.saw("first"))

	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	p.add(say("after rotation"))
	w.lookUntil(t, "event after rotation", w.saw("after rotation"))

	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	w.look()
	p.add(say("after truncation"))
	w.lookUntil(t, "event after truncation", w.saw("after truncation"))

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintf(file, "not json\n{}\n[1,2]\n%s\n{\"kind\":\"text\",\"text\":\"ha", strings.Repeat("z", 2<<20))
	w.look()
	fmt.Fprint(file, "lf\"}\n")
	w.lookUntil(t, "torn event", w.saw("half"))

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.look()
	p.add(say("after removal"))
	w.lookUntil(t, "event after removal", w.saw("after removal"))
}

func TestFeed_stateDirectoryReplaced_isFollowed(t *testing.T) {
	s, _ := runOf(time.Now())
	s.Alive = false
	p := newProject(t, s, []state.Event{say("old")})
	w := watchProject(t, p.dir)
	w.lookUntil(t, "old", w.saw("old"))
	if err := os.RemoveAll(p.stateDir()); err != nil {
		t.Fatal(err)
	}
	w.lookUntil(t, "end of the run", func() bool { return w.snap.State == StateNone })
	if err := os.MkdirAll(p.stateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Status.Status = state.StatusCompleted
	p.json("status.json", s.Status)
	p.add(say("new"))
	w.lookUntil(t, "new", w.saw("new"))
	w.lookUntil(t, "new state", func() bool { return w.snap.State == state.StatusCompleted })
}

func TestFeed_runnerKilled_isDeadWithinFiveLooks(t *testing.T) {
	s, events := runOf(time.Now())
	s.Owner.PID = os.Getpid()
	p := newProject(t, s, events)
	w := watchProject(t, p.dir)
	w.lookUntil(t, "living run", func() bool { return w.snap.State == state.StatusRunning })
	w.looks = 0
	p.release()
	w.lookUntil(t, "dead run", func() bool { return w.snap.State == StateDead })
	if w.looks > 5 { // which are at most a second apart
		t.Errorf("it took %d looks", w.looks)
	}
}

func TestFeed_farBehind_skipsTextButNoIteration(t *testing.T) {
	p := &project{t: t, dir: t.TempDir()}
	if err := os.MkdirAll(p.stateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.stateDir(), "events.jsonl")
	flood(t, path, 7_000)
	for i := range 3 {
		p.add(state.Event{Time: time.Now(), Run: "r", Iteration: i + 1, Kind: state.KindIterationEnd, End: &state.End{Files: 1}})
	}
	p.add(say("the last"))
	f := newFeed(p.dir, time.Now)
	defer f.close()
	u := newUI(Options{Now: time.Now}, f)
	gap := false
	for more := true; more; more = f.more {
		up := f.poll()
		gap = gap || up.gap
		u.apply(up)
	}
	if !gap {
		t.Error("nothing was skipped")
	}
	if len(u.hist.Rounds) != 3 {
		t.Errorf("%d iterations are known", len(u.hist.Rounds))
	}
	if last := u.log.at(u.log.end() - 1).text; last != "the last" {
		t.Errorf("the log ends in %.40q", last)
	}
	// What the log holds has no hole.
	number := -1
	for i := range u.log.lines {
		var n int
		if _, err := fmt.Sscanf(u.log.lines[i].text, "%d ", &n); err != nil {
			continue
		}
		if number >= 0 && n != number+1 {
			t.Fatalf("%d follows %d", n, number)
		}
		number = n
	}
	if number != 6_999 {
		t.Errorf("the last text is number %d", number)
	}
}

func TestOlder_scrolledBack_bringsTheFileBackToItsBeginning(t *testing.T) {
	p := &project{t: t, dir: t.TempDir()}
	if err := os.MkdirAll(p.stateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	flood(t, filepath.Join(p.stateDir(), "events.jsonl"), 3_000)
	f := newFeed(p.dir, time.Now)
	defer f.close()
	u := newUI(Options{Now: time.Now}, f)
	for more := true; more; more = f.more {
		u.apply(f.poll())
	}
	u.log.layOut(100, 30)
	first := u.log.at(u.log.first).text
	if strings.HasPrefix(first, "0 ") {
		t.Fatal("the log holds everything: the test shows nothing")
	}
	for range 40 {
		u.log.toStart()
		u.log.layOut(100, 30)
		u.readMore()
		if u.log.noOlder {
			break
		}
	}
	number := -1
	for i := range u.log.lines {
		var n int
		if _, err := fmt.Sscanf(u.log.lines[i].text, "%d ", &n); err == nil {
			if number >= 0 && n != number+1 {
				t.Fatalf("%d follows %d", n, number)
			}
			number = n
		}
	}
	if got := u.log.at(u.log.first).text; !strings.HasPrefix(got, "0 ") {
		t.Errorf("the oldest is %.40q, %d bytes held", got, u.log.bytes)
	}
	if !u.log.noOlder || !strings.Contains(u.message, "beginning") {
		t.Errorf("the beginning is not said: %q", u.message)
	}
}

func TestFeed_idle_looksOnceASecondAndAtMost25TimesInABusyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &feed{reader: state.Open("/nowhere"), kick: make(chan struct{}, 1), idle: pollIdle, polled: time.Now()}
		count := func(busy bool) (n int) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if busy {
				f.poke()
			}
			for f.wait(ctx) {
				f.polled = time.Now()
				if n++; busy {
					f.poke()
				}
			}
			return n
		}
		if n := count(false); n < 9 || n > 10 {
			t.Errorf("%d looks in 10 idle seconds", n)
		}
		f.idle = pollBlind
		if n := count(false); n < 39 || n > 40 {
			t.Errorf("%d looks in 10 seconds without announcements", n)
		}
		if n := count(true); n < 200 || n > 251 {
			t.Errorf("%d looks in 10 busy seconds", n)
		}
	})
}
