package follow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ralph/internal/sample"
	"ralph/state"
	"ralph/state/view"
)

// A long log is shown from its end, and its run is the same as if every event had been folded.
func TestFollower_longPast_showsTheEndFirstAndTheSameRun(t *testing.T) {
	s, begun := sample.Run(time.Now())
	p := sample.New(t, s, begun)
	var all []state.Event
	at := time.Now()
	add := func(iteration int, d state.Payload) {
		at = at.Add(time.Second)
		e := state.NewEvent(state.Origin{Run: s.Status.RunID, Iteration: iteration, Task: "#8"}, at, d)
		e.Seq = int64(len(begun) + len(all) + 1)
		all = append(all, e)
	}
	for i := 8; i < 40; i++ {
		add(i, state.IterationStart{Title: fmt.Sprintf("task %d", i)})
		for j := range 300 {
			tool := state.Tool{ID: fmt.Sprint(i, j), Name: "Read", Arg: "a.go"}
			add(i, tool)
			add(i, state.ToolResult{Tool: tool, Text: strings.Repeat("answer ", 150)})
			add(i, state.Usage{InputTokens: int64(j), CostUSD: float64(j) / 100})
		}
		add(i, state.Check{Name: "test", Passed: i%3 > 0})
		if i < 39 {
			add(i, state.IterationEnd{Outcome: "completed-turn", Files: i, Decision: state.Decision{Action: "continue", Rule: "continue"}})
		}
	}
	p.Add(all...)
	w := &watched{Follower: New(p.Dir, time.Now)}
	defer w.Close()
	first := w.Poll()
	if n := len(first.Early); n < 10 || first.Early[n-1].Seq != all[len(all)-1].Seq || len(first.Events) > 0 {
		t.Fatalf("the first look has %d events for the log, %d for the run", n, len(first.Events))
	}
	p.Add(sample.Say("later"))
	told := len(first.Early)
	w.model.Apply(first)
	for w.More() {
		up := w.Poll()
		told += len(up.LogEvents())
		w.model.Apply(up)
	}
	want := view.Model{}
	want.Apply(view.Update{Snapshot: first.Snapshot, Events: append(begun, all...)})
	want.Apply(view.Update{Snapshot: first.Snapshot, Events: []state.Event{sample.Say("later")}})
	if told != len(first.Early)+1 {
		t.Errorf("%d events for the log after the first look", told-len(first.Early))
	}
	// Text of another run starts no model; times of the open tools differ in nothing that is shown.
	if d := cmp.Diff(want.Run, w.model.Run, cmpopts.IgnoreUnexported(view.Run{})); d != "" {
		t.Error(d)
	}
}

// A viewer that falls behind a growing log drops log lines, but never an iteration.
func TestFollower_fallsBehind_skipsTextButNoIteration(t *testing.T) {
	s, begun := sample.Run(time.Now())
	p := sample.New(t, s, begun)
	f := New(p.Dir, time.Now)
	defer f.Close()
	m := view.Model{}
	m.Apply(f.Poll())
	for f.More() {
		m.Apply(f.Poll())
	}
	was := len(m.Run.Iterations)
	for i := range 3 {
		from := state.Origin{Run: s.Status.RunID, Iteration: 100 + i}
		p.Add(state.NewEvent(from, time.Now(), state.IterationStart{}))
		for range 100 {
			p.Add(state.NewEvent(from, time.Now(), state.Text{Text: strings.Repeat("flood ", 12000)}))
		}
	}
	gap := false
	for more := true; more; more = f.More() {
		up := f.Poll()
		gap = gap || up.Gap
		m.Apply(up)
	}
	if !gap || len(m.Run.Iterations) != was+3 {
		t.Errorf("gap %v, %d iterations, want 3 more than %d", gap, len(m.Run.Iterations), was)
	}
}
