package runner

import (
	"testing"
	"time"

	"ralph/state"
)

func TestRun_endOfItsHours_endsItWithoutACall(t *testing.T) {
	b := newBench(t, "worker", "[ ] one")
	b.d.End = time.Now()
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if b.calls() != 0 {
		t.Errorf("%d calls", b.calls())
	}
}
