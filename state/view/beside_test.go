package view_test

import (
	"fmt"
	"testing"
	"time"

	"ralph/state"
	"ralph/state/view"
)

// Turns that run side by side report in any order.
func TestRun_iterationsSideBySide_eachHasItsOwnUsage(t *testing.T) {
	var r view.Run
	send := func(n int, p state.Payload) {
		r.Add(state.NewEvent(state.Origin{Run: "r", Iteration: n, Task: fmt.Sprint("T", n)}, time.Unix(int64(n), 0), p))
	}
	send(0, state.RunStart{Parallel: 4})
	for n := 1; n <= 4; n++ {
		send(n, state.IterationStart{Title: fmt.Sprint("task ", n)})
	}
	for _, it := range r.Iterations { // an agent that prints text says nothing until it ends
		if !it.Running() {
			t.Errorf("iteration %d is cut off by the next one", it.Number)
		}
	}
	for n := 1; n <= 4; n++ {
		send(n, state.Usage{InputTokens: int64(n)})
	}
	send(2, state.Usage{InputTokens: 20})
	for _, it := range r.Iterations {
		if !it.Running() {
			t.Errorf("iteration %d does not run", it.Number)
		}
	}
	send(3, state.IterationEnd{Outcome: "completed-turn", Usage: state.Usage{InputTokens: 30}})
	send(1, state.IterationEnd{Outcome: "completed-turn", Usage: state.Usage{InputTokens: 10}})
	var got []int64
	for _, it := range r.Iterations {
		got = append(got, it.Usage.InputTokens)
	}
	if fmt.Sprint(got) != "[10 20 30 4]" || r.Usage.InputTokens != 64 {
		t.Errorf("%v, together %d", got, r.Usage.InputTokens)
	}
	r.Settle(false)
	if !r.Iterations[1].CutOff || r.Iterations[0].CutOff {
		t.Error("those that had not ended are cut off, and no others")
	}
}
