package runner

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/rules"
	"ralph/state"
)

// The fake of pacing reports that much of its 5-hour window is used.
var paceFakes = map[string]func(*fake) int{
	"near-the-line": func(f *fake) int {
		put(fmt.Sprintf("who-%d", f.call), os.Getenv(fakeAgentName)+" "+strings.Join(os.Args, " "))
		f.print(map[string]any{"type": "rate_limit_event", "rate_limit_info": map[string]any{"status": "allowed",
			"resetsAt": time.Now().Add(4 * time.Hour).Unix(), "rateLimitType": "five_hour", "utilization": 0.69}})
		f.work()
		return f.result("ok"+block(!open1(planName), ""), nil)
	},
}

func paced(t *testing.T) *bench {
	b := newBench(t, "near-the-line", "[ ] one", "[ ] two", "[ ] three")
	b.o.Pace = []string{"keep 30% of five_hour at " + time.Now().Add(2*time.Hour).Format("15:04")}
	return b
}

func TestRun_pace_waitsBeforeTheLineAndLaterRunsToo(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := paced(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	b.d.Tick = func(_ time.Duration, d rules.Decision) {
		if s, _ := b.w.Status(); d.Rule != state.RulePace || s.Status != state.StatusWaiting || !strings.Contains(s.Reason, "69% of five_hour is used; up to 70% is allowed now") {
			t.Errorf("waits for %s: %s", d.Rule, s.Reason)
		}
		cancel(&rules.Interrupt{Exit: state.ExitInterrupted, Why: "SIGINT"})
	}
	wantEnd(t, b.run(ctx), "interrupted", state.ExitInterrupted)
	if b.calls() != 1 {
		t.Fatalf("%d calls, want 1", b.calls())
	}

	// The next run knows it. A person who resumes it wants it to work.
	b.d.RunID = "run-2"
	b.d.Tick = func(time.Duration, rules.Decision) {
		if b.calls() != 1 {
			t.Errorf("%d calls before the person wants them", b.calls())
		}
		b.ask(state.RequestResume)
	}
	wantEnd(t, b.run(t.Context()), "complete", 0)
	if b.calls() != 3 {
		t.Errorf("%d calls, want 3", b.calls())
	}
}

func TestRun_paceWithoutTime_stops(t *testing.T) {
	t.Parallel()
	b := paced(t)
	b.o.MaxDuration = time.Hour
	wantEnd(t, b.run(t.Context()), state.RulePace, state.ExitLimited)
}

func TestRun_paceWithOtherAgent_itTakesOver(t *testing.T) {
	t.Parallel()
	b := paced(t)
	b.o.FallbackAgents, b.o.MaxIterations = []string{"codex"}, 2
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if who := b.read("who-2"); !strings.HasPrefix(who, "codex ") {
		t.Errorf("call 2 was made by %s", who)
	}
	if got := payloads[state.AgentChange](b); len(got) != 1 || got[0].Instead != "claude" || !strings.HasPrefix(got[0].Why, "PACE keep 30%") {
		t.Errorf("reported %+v", got)
	}
}
