//go:build e2e && linux

package e2e

import (
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// used makes each answer of a run tell how much of the window of five hours is used. The line
// of "spread five_hour" is at 65 percent 8 s after the first answer.
func used(reset func(now time.Time) time.Time, share float64, steps []mockllm.Step) []mockllm.Step {
	for i := range steps {
		steps[i].Windows = func(now time.Time) []mockllm.Window {
			return []mockllm.Window{{Name: "five_hour", Used: share, ResetsAt: reset(now)},
				{Name: "seven_day", Used: 0.4, ResetsAt: now.Add(50 * time.Hour)}}
		}
	}
	return steps
}

// The window is far from used up when PACE holds the second call back.
func TestClaude_pace_waitsBeforeTheLimitAndSaysWhy(t *testing.T) {
	t.Parallel()
	var once sync.Once
	var resets time.Time
	reset := func(now time.Time) time.Time {
		once.Do(func() { resets = now.Add(time.Duration(0.35*float64(5*time.Hour)) + 8*time.Second) })
		return resets
	}
	w := newProject(t, claude(), 3, mockllm.Scenario{Runs: [][]mockllm.Step{
		used(reset, 0.6, mockllm.Work(1, false)), used(reset, 0.6001, mockllm.Work(2, false)), used(reset, 0.6002, mockllm.Work(3, true)),
	}})
	w.Env = subscription(w.Env)
	w.Set("PACE", "spread five_hour")
	p := w.ralph("run")
	w.until(2*time.Minute, "the run does not wait for PACE", func() bool {
		text := w.Read(".ralph/status.json")
		return strings.Contains(text, `"status": "waiting"`) && strings.Contains(text, `"rule": "pace"`)
	})
	s := w.status()
	if !strings.HasPrefix(s.Reason, "PACE spread five_hour: ") || s.WakeAt.IsZero() {
		t.Errorf("it does not say why or until when: %+v", s)
	}
	w.finished(p.Wait(2*time.Minute), 3)
	if !strings.Contains(p.Said(), "PACE spread five_hour: ") {
		t.Error("the terminal does not say why")
	}
	for _, r := range w.mock.Turns(scenario) {
		if r.Run == 2 && r.Time.Before(s.WakeAt.Add(-time.Second)) {
			t.Errorf("call %d began at %v, before %v", r.Run, r.Time, s.WakeAt)
		}
	}
}
