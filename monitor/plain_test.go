package monitor

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
)

// buffer is written by one goroutine and read by another.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestPlain_runThatGoesOn_writesEachChangeOnceAndEndsWithIt(t *testing.T) {
	now := time.Now()
	s, events := sample.Run(now)
	s.Owner.PID = os.Getpid()
	p := sample.New(t, s, events)
	var out buffer
	done := make(chan error, 1)
	go func() { done <- Plain(t.Context(), Options{Dir: p.Dir, Out: &out}) }()
	until(t, "state", func() bool { return strings.Contains(out.String(), "RUNNING: iteration 7 of 50") })
	if strings.Contains(out.String(), "I will look") {
		t.Error("text from before the start is repeated")
	}
	p.Add(state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: 7}, now, state.Tool{Name: "Bash", Arg: "go test"}))
	until(t, "tool", func() bool { return strings.Contains(out.String(), "tool       Bash go test") })
	for range 3 {
		s.Status.Timestamp = time.Now()
		p.JSON("status.json", s.Status)
	}
	s.Status.Status, s.Status.ExitReason, s.Status.Rule, s.Status.Reason = state.StatusFailed, "agent_unusable", "agent_unusable", "not logged in"
	p.JSON("status.json", s.Status)
	until(t, "end state", func() bool { return strings.Contains(out.String(), "FAILED: not logged in") })
	end := state.RunEnd{Exit: 6, Decision: state.Decision{Rule: "agent_unusable"}}
	p.Add(state.NewEvent(state.Origin{Run: s.Status.RunID}, now, end))
	if err := <-done; err != nil {
		t.Error(err)
	}
	text := out.String()
	if !strings.Contains(text, "run ended · exit code 6") || strings.Count(text, "RUNNING") != 1 || strings.Count(text, "FAILED") != 1 {
		t.Errorf("the lines are\n%s", text)
	}
	for line := range strings.Lines(text) {
		if _, err := time.Parse(time.TimeOnly, line[:8]); err != nil {
			t.Errorf("%q does not stand for itself", line)
		}
	}
}

func TestPlain_runnerDies_saysSoAndEnds(t *testing.T) {
	s, events := sample.States(time.Now())["crashed"]()
	var out buffer
	if err := Plain(t.Context(), Options{Dir: sample.New(t, s, events).Dir, Out: &out}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "CRASHED: the runner (pid 4242) died") {
		t.Errorf("the lines are\n%s", out.String())
	}
}

func TestPlain_nothingRuns_waitsUntilItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out buffer
	if err := Plain(ctx, Options{Dir: t.TempDir(), Out: &out}); err != nil || !strings.Contains(out.String(), "NO RUN") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestPlain_readerGoesAway_isAnError(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	if err := Plain(t.Context(), Options{Dir: t.TempDir(), Out: w}); err == nil {
		t.Error("writing to nobody is not an error")
	}
}
