package view_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

func TestSettled_lockDecidesWhatTheStatusMeans(t *testing.T) {
	for _, c := range []struct {
		name, status, run, owner string
		alive                    bool
		want                     string
	}{
		{"nothing ran", "", "", "", false, view.StateNone},
		{"first start", "", "", "b", true, view.StateStarting},
		{"start after a run", state.StatusCompleted, "a", "b", true, view.StateStarting},
		{"running", state.StatusRunning, "a", "a", true, state.StatusRunning},
		{"waiting", state.StatusWaiting, "a", "a", true, state.StatusWaiting},
		{"killed while running", state.StatusRunning, "a", "a", false, view.StateCrashed},
		{"killed while waiting", state.StatusWaiting, "a", "a", false, view.StateCrashed},
		{"killed while paused", state.StatusPaused, "a", "a", false, view.StateCrashed},
		{"completed", state.StatusCompleted, "a", "", false, state.StatusCompleted},
		{"halted, last moments", state.StatusHalted, "a", "a", true, state.StatusHalted},
		{"failed", state.StatusFailed, "a", "", false, state.StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := view.Snapshot{At: noon, Alive: c.alive, Owner: state.Owner{RunID: c.owner}, Status: state.Status{Status: c.status, RunID: c.run}}.Settled()
			if s.State != c.want || s.Active() != (c.alive && s.Status.Active()) {
				t.Errorf("state %q, active %t, want %q", s.State, s.Active(), c.want)
			}
		})
	}
}

func TestSettled_wait_saysWhatItIsFor(t *testing.T) {
	for name, want := range map[string]view.Wait{
		"running": {},
		"waiting": {Rule: "usage_limit", Reason: "You've hit your session limit", Window: "five_hour", Until: noon.Add(time.Hour + 72*time.Second)},
		"paused":  {Rule: "paused", Reason: "paused by ralph pause"},
		"crashed": {},
	} {
		s, _ := sample.States(noon)[name]()
		if s.Wait != want {
			t.Errorf("%s: %+v, want %+v", name, s.Wait, want)
		}
	}
}

func TestGather_brokenFiles_keepsTheLastGoodOnesAndNamesThem(t *testing.T) {
	s, _ := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, nil)
	good := view.Gather(p.Reader(), time.Now())
	if good.State != state.StatusRunning || len(good.Problems) > 0 || !good.Alive {
		t.Fatalf("the good snapshot is %+v", good)
	}
	for _, name := range []string{"status.json", ".circuit_breaker_state", ".call_count"} {
		for _, content := range []string{"", "{\"loop_", "[]", "null junk", "\x00\x01"} {
			if err := os.WriteFile(filepath.Join(p.StateDir(), name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	bad := view.Gather(p.Reader(), time.Now()).Keep(good)
	if bad.State != state.StatusRunning || bad.Status.LoopCount != 6 {
		t.Errorf("the status was not kept: %q, %d", bad.State, bad.Status.LoopCount)
	}
	for i, name := range []string{"status.json", "circuit_breaker", "call_count"} {
		if len(bad.Problems) != 3 || !strings.Contains(bad.Problems[i], name) {
			t.Errorf("the problems are %q", bad.Problems)
		}
	}
}

func TestGather_chosenAgent_isNextUntilATurnBegins(t *testing.T) {
	s, _ := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, nil)
	use := state.AgentUse{Run: s.Owner.RunID, Agent: "codex", Model: "mini"}
	if err := state.Use(p.StateDir(), use); err != nil {
		t.Fatal(err)
	}
	if got := view.Gather(p.Reader(), time.Now()).Next; got.Agent != "codex" || got.Model != "mini" {
		t.Errorf("next %+v", got)
	}
	s.Status.IterationStartedAt = time.Now().Add(time.Second)
	p.JSON("status.json", s.Status)
	if got := view.Gather(p.Reader(), time.Now()).Next; got.Agent != "" {
		t.Errorf("next after a turn has begun: %+v", got)
	}
}

func TestGather_requestThatWaits_isShownBeforeTheRunnerTakesIt(t *testing.T) {
	s, _ := sample.Run(time.Now())
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, nil)
	for _, step := range []struct{ send, want state.Request }{
		{state.RequestPause.About("3"), ""}, {state.RequestPause, state.RequestPause},
		{state.RequestResume, ""}, {state.RequestStop, state.RequestStop}, {state.RequestAbort, ""},
	} {
		if err := state.Send(p.StateDir(), step.send); err != nil {
			t.Fatal(err)
		}
		if got := view.Gather(p.Reader(), time.Now()).Status.Pending; got != step.want {
			t.Errorf("after %q: %q, want %q", step.send, got, step.want)
		}
	}
}
