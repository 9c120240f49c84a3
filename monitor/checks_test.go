package monitor

import (
	"strings"
	"testing"
	"time"

	"ralph/state"
)

func TestChecksText_saysResultTimeAndSinceWhenRed(t *testing.T) {
	now := time.Date(2026, 11, 20, 7, 40, 0, 0, time.Local)
	got := checksText([]state.CheckStatus{
		{Name: "build", Result: "passed", Seconds: 1.25},
		{Name: "lint", Result: "running", StartedAt: now.Add(-3 * time.Second)},
		{Name: "test\x1b[31m", Result: "failed", RedSince: now.Add(-10 * time.Minute)},
	}, now)
	for _, want := range []string{"build passed 1.2s", "lint running 3s", "failed since 07:30"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("not inert: %q", got)
	}
	if got := checksText(nil, now); got != "" {
		t.Errorf("no checks: %q", got)
	}
}

func TestRenderStatus_checksRan_areShown(t *testing.T) {
	s := Snapshot{State: state.StatusRunning, Alive: true, At: time.Now(), Status: state.Status{RunID: "r", Status: state.StatusRunning, Checks: []state.CheckStatus{{Name: "test", Result: "passed", Seconds: 2}}}}
	if got := RenderStatus(s, 80); !strings.Contains(got, "checks    test passed 2.0s") {
		t.Error(got)
	}
}
