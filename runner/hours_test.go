package runner

import (
	"testing"
	"time"

	"ralph/runner/rules"
	"ralph/state"
)

func TestRun_beforeItsHours_waitsUntilAPersonResumes(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.d.Window.Begin = time.Now().Add(time.Hour)
	waited := 0
	b.d.Tick = func(_ time.Duration, d rules.Decision) {
		if waited++; d.Rule != "start_at" || b.calls() > 0 {
			t.Errorf("waits for %s after %d calls", d.Rule, b.calls())
		}
		if err := state.Send(b.w.Dir(), state.RequestResume); err != nil {
			t.Error(err)
		}
	}
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if waited == 0 {
		t.Error("it did not wait")
	}
}

func TestRun_endOfItsHours_endsItWithoutACall(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.d.Window.End = time.Now()
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if b.calls() != 0 {
		t.Errorf("%d calls", b.calls())
	}
}
