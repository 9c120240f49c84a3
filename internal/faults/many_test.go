//go:build linux

package faults

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/state"
)

func TestFiftyStartsAtOnce_oneWinsAndTheOthersNameIt(t *testing.T) {
	world.Long(t, "fifty processes")
	w := newProject(t, "waiter", 1)
	var all []*world.Process
	for range 50 {
		all = append(all, w.Prepare("ralph"))
	}
	for _, p := range all {
		p.Launch()
	}
	var winner *world.Process
	w.Until("49 have ended", func() bool {
		running := 0
		for _, p := range all {
			if p.Alive() {
				running++
				winner = p
			}
		}
		return running == 1
	})
	w.Write("go", "")
	winner.Ends(0)
	for _, p := range all {
		if p == winner {
			continue
		}
		p.Ends(5)
		if said := p.Said(); !strings.Contains(said, "pid "+strconv.Itoa(winner.Process.Pid)) && !strings.Contains(said, "is starting in this project") {
			t.Errorf("does not name pid %d:\n%s", winner.Process.Pid, said)
		}
	}
	if calls := len(w.entries("call")); calls != 1 {
		t.Errorf("%d calls of the agent, want 1", calls)
	}
	if c, err := w.state().Calls(); err != nil || c.Calls != 1 {
		t.Errorf("counters: %+v, %v", c, err)
	}
}

func TestTwentyMonitors_onOneRun_allSeeItsEndAndDisturbNothing(t *testing.T) {
	world.Long(t, "twenty monitors")
	w := newProject(t, "waiter", 3)
	p := w.ralph()
	w.Until("a call", func() bool { return len(w.entries("call")) > 0 })
	var monitors []*world.Process
	for range 20 {
		monitors = append(monitors, w.Start("ralph-monitor", "--plain"))
	}
	for _, m := range monitors {
		w.Until("a monitor shows the run", func() bool { return strings.Contains(m.Said(), "T1 do part 1") })
	}
	w.Write("go", "")
	p.Ends(0)
	for _, m := range monitors {
		m.Ends(0)
		if said := m.Said(); !strings.Contains(said, "T3 do part 3") || !strings.Contains(said, "complete") {
			t.Errorf("a monitor missed the end:\n%s", said)
		}
	}
	if calls := len(w.entries("call")); calls != 3 {
		t.Errorf("%d calls of the agent, want 3", calls)
	}
}

func TestRequests_inAStorm_eachIsTakenOnceAndTheLastDecides(t *testing.T) {
	world.Long(t, "a storm of requests")
	w := newProject(t, "worker", 300)
	p := w.ralph()
	w.Until("a call", func() bool { return len(w.entries("call")) > 0 })
	sent := amount(200, 2000)
	errs := make(chan error, sent)
	for i := range sent {
		q := []state.Request{state.RequestPause, state.RequestResume, state.RequestSkip}[i%3]
		go func() { errs <- state.Send(w.state().Dir(), q) }()
	}
	for range sent {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, q := range []string{"resume", "stop"} {
		w.Start("ralph", q).Ends(0)
	}
	p.Ends(130)
	log := w.Read(".ralph/logs/ralph.log")
	if got := strings.Count(log, "request: request="); got != sent+2 {
		t.Errorf("%d requests were taken, %d sent", got, sent+2)
	}
	w.NoneLeft(leftBound)
	if q, err := w.left(); err != nil || len(q) > 0 {
		t.Errorf("requests are left: %v %v", q, err)
	}
}

// left are the requests that nobody took.
func (w *project) left() ([]state.Request, error) {
	own, _, err := state.Acquire(w.state().Dir(), state.Owner{})
	if err != nil {
		return nil, fmt.Errorf("take over: %w", err)
	}
	defer own.Release()
	return own.TakeRequests()
}
