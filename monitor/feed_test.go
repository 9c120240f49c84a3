package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
	"ralph/state/view/follow"
)

func TestFeed_farBehind_skipsTextButNoIteration(t *testing.T) {
	p := sample.Empty(t)
	if err := os.MkdirAll(p.StateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.StateDir(), "events.jsonl")
	sample.Flood(t, path, 7_000)
	for i := range 3 {
		p.Add(state.NewEvent(state.Origin{Run: "r", Iteration: i + 1}, time.Now(), state.IterationEnd{Files: 1}))
	}
	p.Add(sample.Say("the last"))
	f := follow.New(p.Dir, time.Now)
	defer f.Close()
	u := newUI(Options{Now: time.Now}, f)
	thin := false
	for more := true; more; more = f.More() {
		up := f.Poll()
		thin = thin || up.Thin
		u.apply(up)
	}
	if !thin {
		t.Error("nothing was skipped")
	}
	if len(u.model.Run.Iterations) != 3 {
		t.Errorf("%d iterations are known", len(u.model.Run.Iterations))
	}
	if last := u.run.log.at(u.run.log.end() - 1).Text; last != "the last" {
		t.Errorf("the log ends in %.40q", last)
	}
	// What the log holds has no hole.
	number := -1
	for i := range u.run.log.lines {
		var n int
		if _, err := fmt.Sscanf(u.run.log.lines[i].Text, "%d ", &n); err != nil {
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
	p := sample.Empty(t)
	if err := os.MkdirAll(p.StateDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	sample.Flood(t, filepath.Join(p.StateDir(), "events.jsonl"), 3_000)
	f := follow.New(p.Dir, time.Now)
	defer f.Close()
	u := newUI(Options{Now: time.Now}, f)
	for more := true; more; more = f.More() {
		u.apply(f.Poll())
	}
	u.run.log.layOut(100, 30)
	first := u.run.log.at(u.run.log.first).Text
	if strings.HasPrefix(first, "0 ") {
		t.Fatal("the log holds everything: the test shows nothing")
	}
	for range 40 {
		u.run.log.toStart()
		u.run.log.layOut(100, 30)
		u.run.readOlder()
		if u.run.log.noOlder {
			break
		}
	}
	number := -1
	for i := range u.run.log.lines {
		var n int
		if _, err := fmt.Sscanf(u.run.log.lines[i].Text, "%d ", &n); err == nil {
			if number >= 0 && n != number+1 {
				t.Fatalf("%d follows %d", n, number)
			}
			number = n
		}
	}
	if got := u.run.log.at(u.run.log.first).Text; !strings.HasPrefix(got, "0 ") {
		t.Errorf("the oldest is %.40q, %d bytes held", got, u.run.log.bytes)
	}
	if !u.run.log.noOlder || !strings.Contains(u.message, "beginning") {
		t.Errorf("the beginning is not said: %q", u.message)
	}
}

func TestScreen_recordedRun_isShown(t *testing.T) {
	data, err := os.ReadFile("../state/testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	p := sample.New(t, view.Snapshot{Status: state.Status{RunID: "20261122-022953-440c", Status: state.StatusCompleted}, Breaker: state.Breaker{State: state.BreakerClosed}}, nil)
	if err := os.WriteFile(p.Reader().EventsPath(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	f := follow.New(p.Dir, time.Now)
	defer f.Close()
	u := newUI(Options{Dir: "/home/ann/todo", Now: time.Now}, f)
	u.apply(f.Poll())
	screen := simulate(t, 120, 60)
	u.drawOn(screen)
	got := text(screen)
	for _, want := range []string{
		"6 ✓       0s  `todo count… · 4", "5 !       2s  `todo rm… · cl", "2 !       1s  `todo li… · re", "$0.08",
		"━ iteration 6 · `todo count` prints how many", "» told the agent: Your claim of completion was refused", "✗ audit: the task",
		"✓ stopped: 4 of 4 tasks are done", "━ run ended after 9s · exit code 0 · about $0.24",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
