package monitor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state"
)

func TestSettle_lockDecidesWhatTheStatusMeans(t *testing.T) {
	for _, c := range []struct {
		name, status, run, owner string
		alive                    bool
		want                     string
	}{
		{"nothing ran", "", "", "", false, StateNone},
		{"first start", "", "", "b", true, StateStarting},
		{"start after a run", state.StatusCompleted, "a", "b", true, StateStarting},
		{"running", state.StatusRunning, "a", "a", true, state.StatusRunning},
		{"waiting", state.StatusWaiting, "a", "a", true, state.StatusWaiting},
		{"killed while running", state.StatusRunning, "a", "a", false, StateDead},
		{"killed while waiting", state.StatusWaiting, "a", "a", false, StateDead},
		{"killed while paused", state.StatusPaused, "a", "a", false, StateDead},
		{"completed", state.StatusCompleted, "a", "", false, state.StatusCompleted},
		{"halted, last moments", state.StatusHalted, "a", "a", true, state.StatusHalted},
		{"failed", state.StatusFailed, "a", "", false, state.StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Snapshot{At: noon, Alive: c.alive, Owner: state.Owner{RunID: c.owner}, Status: state.Status{Status: c.status, RunID: c.run}}
			s.settle()
			if s.State != c.want {
				t.Errorf("state %q, want %q", s.State, c.want)
			}
		})
	}
}

func TestGather_brokenFiles_keepsTheLastGoodOnesAndNamesThem(t *testing.T) {
	s, _ := runOf(time.Now())
	s.Owner.PID = os.Getpid()
	p := newProject(t, s, nil)
	r := state.Open(p.stateDir())
	good := Gather(r, time.Now())
	if good.State != state.StatusRunning || len(good.Problems) > 0 || !good.Alive {
		t.Fatalf("the good snapshot is %+v", good)
	}
	for _, name := range []string{"status.json", ".circuit_breaker_state", ".call_count"} {
		for _, content := range []string{"", "{\"loop_", "[]", "null junk", "\x00\x01"} {
			if err := os.WriteFile(filepath.Join(p.stateDir(), name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	bad := Gather(r, time.Now()).keep(good)
	if bad.State != state.StatusRunning || bad.Status.LoopCount != 6 {
		t.Errorf("the status was not kept: %q, %d", bad.State, bad.Status.LoopCount)
	}
	if len(bad.Problems) != 3 || !strings.Contains(bad.Problems[0], "status.json is unusable") {
		t.Errorf("problems are %q", bad.Problems)
	}
}

func TestGather_readOnlyCopy_createsNothing(t *testing.T) {
	s, events := runOf(time.Now())
	s.Alive = false
	p := newProject(t, s, events)
	before, _ := os.ReadDir(p.stateDir())
	if err := os.Chmod(p.stateDir(), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.stateDir(), 0o700) })
	u := still(Snapshot{}, nil, noon)
	f := newFeed(p.dir, time.Now)
	defer f.close()
	u.apply(f.poll())
	if got := newView(u.snap, &u.hist, time.Now()); got.Word != "DEAD" || len(got.Rounds) != 7 {
		t.Errorf("the copy shows %q and %d iterations", got.Word, len(got.Rounds))
	}
	if after, _ := os.ReadDir(p.stateDir()); len(after) != len(before) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
}

func TestView_clockSetBackOrFarAhead_showsNoNonsense(t *testing.T) {
	s, events := runOf(noon)
	var h history
	for _, e := range events {
		h.add(e)
	}
	for _, shift := range []time.Duration{-48 * time.Hour, -time.Minute, 400 * 24 * time.Hour} {
		s.At = noon.Add(shift)
		s.settle()
		v := newView(s, &h, noon.Add(shift))
		all := join(" ", v.News, v.Elapsed, v.Gauges[0].Value, v.Gauges[0].Note)
		if strings.Contains(all, "-") && !strings.Contains(all, "sub-agent") || s.Age < 0 {
			t.Errorf("shifted by %v: %q, age %v", shift, all, s.Age)
		}
		for _, g := range v.Gauges {
			if g.Part > 1 {
				t.Errorf("shifted by %v: %+v", shift, g)
			}
		}
	}
}

func TestView_countersOfAnHourThatIsOver_areZero(t *testing.T) {
	s, events := runOf(noon)
	_ = events
	for at, want := range map[time.Time]string{noon: "43/100", noon.Add(29*time.Minute + 59*time.Second): "43/100", noon.Add(30 * time.Minute): "0/100"} {
		if v := newView(s, &history{}, at); v.Gauges[0].Value != want {
			t.Errorf("at %v calls are %q, want %q", at, v.Gauges[0].Value, want)
		}
	}
}

func TestIterationOf_countsTheOneThatRuns(t *testing.T) {
	begun := noon.Add(-time.Second)
	for _, c := range []struct {
		name string
		st   state.Status
		want int
	}{
		{"nothing has begun", state.Status{Status: state.StatusRunning}, 0},
		{"the first runs", state.Status{Status: state.StatusRunning, IterationStartedAt: begun}, 1},
		{"the seventh runs", state.Status{Status: state.StatusRunning, IterationStartedAt: begun, LoopCount: 6}, 7},
		{"a rule has answered the sixth", state.Status{Status: state.StatusRunning, IterationStartedAt: begun, LoopCount: 6, Rule: "continue"}, 6},
		{"the run has ended", state.Status{Status: state.StatusCompleted, IterationStartedAt: begun, LoopCount: 6, Rule: "complete"}, 6},
	} {
		if got := iterationOf(Snapshot{Status: c.st}, &history{}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestView_everyPhase_saysWhoIsAtWork(t *testing.T) {
	s, events := runOf(noon) // the latest tool has no answer yet
	var h history
	for _, e := range events {
		h.add(e)
	}
	for phase, want := range map[string]string{
		"agent": "4m 12s in · 1 sub-agent · Edit src/api/pagination.go", "observing": "4m 12s in · looking at what has changed", "checking": "checking", "starting": "4m 12s in · starting",
	} {
		s.Status.Phase = phase
		if v := newView(s, &h, noon); v.News != want {
			t.Errorf("%s: %q, want %q", phase, v.News, want)
		}
	}
}

func TestView_runnerSilentForLong_saysSo(t *testing.T) {
	s, _ := runOf(noon)
	s.Status.Timestamp = noon.Add(-40 * time.Second)
	s.settle()
	if v := newView(s, &history{}, noon); !strings.Contains(v.News, "not been heard for 40s") {
		t.Errorf("news are %q", v.News)
	}
}

func TestView_waiting_countsDownAndNamesTheWindow(t *testing.T) {
	s, events := statesOf(noon)["waiting"]()
	_ = events
	for after, want := range map[time.Duration]string{0: "1:01:12 left", time.Hour: "1:12 left", 2 * time.Hour: "0:00 left"} {
		v := newView(s, &history{}, noon.Add(after))
		if !strings.HasPrefix(v.News, want) || !strings.Contains(v.News, "5-hour usage limit") {
			t.Errorf("after %v: %q, want %q", after, v.News, want)
		}
	}
	v := newView(s, &history{}, noon)
	if g := v.Gauges[2]; g.Value != "reached" || g.Part != 1 || g.Tone != bad {
		t.Errorf("the window is %+v", g)
	}
	if v := newView(s, &history{}, noon.Add(2*time.Hour)); len(v.Gauges) != 2 {
		t.Errorf("a window that has ended is still shown: %+v", v.Gauges)
	}
}

func TestHistory_newRun_forgetsTheOldIterationsAndKeepsTheLimits(t *testing.T) {
	_, events := runOf(noon)
	var h history
	for _, e := range events {
		h.add(e)
	}
	if len(h.Rounds) != 8-1 || len(h.Limits) != 1 || h.subAgents() != 1 || !h.Busy || h.Tool.Name != "Edit" {
		t.Fatalf("the run folds to %d rounds, %d limits, %d agents, %+v", len(h.Rounds), len(h.Limits), h.subAgents(), h.Tool)
	}
	r := h.Rounds[5]
	if r.Number != 6 || !r.Ended || r.Files != 12 || r.Outcome != "timeout-with-work" || r.Usage.InputTokens != 100000 {
		t.Errorf("the sixth is %+v", r)
	}
	h.add(state.Event{Kind: state.KindToolResult, Run: h.Run, Iteration: 7, Tool: &state.Tool{ID: "2"}})
	if h.subAgents() != 0 {
		t.Error("a sub-agent whose call has its answer is still counted")
	}
	h.add(state.Event{Kind: state.KindRunStart, Run: "next"})
	if len(h.Rounds) != 0 || h.Run != "next" || len(h.Limits) != 1 || h.Tool != nil {
		t.Errorf("after the start of a run: %+v", h)
	}
	for i := range 3 * maxRounds {
		h.add(state.Event{Kind: state.KindIterationStart, Run: "next", Iteration: i + 1})
	}
	if n := len(h.Rounds); n > maxRounds || h.Rounds[n-1].Number != 3*maxRounds {
		t.Errorf("%d iterations are kept", n)
	}
}

func TestRenderStatus_everyState_saysItInWordsWithinTheWidth(t *testing.T) {
	for name, make := range statesOf(noon) {
		for _, width := range []int{40, 80, 160} {
			s, _ := make()
			got := RenderStatus(s, width)
			if width == 80 {
				golden(t, "status-"+name+".txt", got)
			}
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > 20 {
				t.Errorf("%s has %d lines", name, len(lines))
			}
			for _, l := range lines {
				if textWidth(l) > width {
					t.Errorf("%s at %d has %q", name, width, l)
				}
			}
		}
	}
}

func TestFormat_numbersAndTimes_areShort(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Hour: "0s", 0: "0s", 59999 * time.Millisecond: "59s", time.Minute: "1m 00s", 3599 * time.Second: "59m 59s", time.Hour: "1h 00m", 25 * time.Hour: "1d 1h"} {
		if got := span(d); got != want {
			t.Errorf("span(%v) is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 12_345: "12.3k", 999_499: "999k", 999_500: "1M", 1_240_000: "1.2M", 12_000_000_000: "12G"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) is %q, want %q", n, got, want)
		}
	}
	for at, want := range map[time.Time]string{noon.Add(time.Hour): "15:30", noon.Add(20 * time.Hour): "Sat 10:30", noon.Add(300 * time.Hour): "3 Dec 02:30"} {
		if got := clock(at, noon); got != want {
			t.Errorf("clock is %q, want %q", got, want)
		}
	}
}

func TestView_newestIterationAndTask_areNamedForPeople(t *testing.T) {
	s, events := runOf(noon)
	var h history
	for _, e := range events {
		h.add(e)
	}
	h.add(state.Event{Time: noon, Run: h.Run, Iteration: 8, Kind: state.KindIterationStart})
	s.Status.Task.ID = "f95a7a4f" // computed from the text of a plan without ids
	v := newView(s, &h, noon)
	if v.Iteration != "iteration 8 of 50" {
		t.Errorf("the iteration is %q although the events are ahead of the status", v.Iteration)
	}
	if v.Plan.Task != "Add cursor pagination to the list endpoint" {
		t.Errorf("the task is %q", v.Plan.Task)
	}
	if v.Rounds[0].Tone != busy || v.Rounds[1].Text != "cut off, 5 tool calls" {
		t.Errorf("the iterations are %+v", v.Rounds[:2])
	}
	for id, want := range map[string]string{"US-001": "US-001 Add", "": "Add", "deadbeef12": "Add", "#7": "#7 Add"} {
		if p := newPlanView(state.Status{Task: state.TaskStatus{ID: id, Title: "Add"}}); p.Task != want {
			t.Errorf("the task with id %q is %q, want %q", id, p.Task, want)
		}
	}
}
