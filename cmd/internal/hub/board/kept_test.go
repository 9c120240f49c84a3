package board

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/internal/sample"
	"ralph/state"
)

// What was read is blanked, so a second look at it finds nothing.
func TestKept_runGoesOn_readsOnlyWhatIsNew(t *testing.T) {
	snapshot, events := sample.Run(time.Now())
	p := sample.New(t, snapshot, events)
	run, path := snapshot.Status.RunID, p.Reader().EventsPath()
	k := &told{}
	look := func(want int) {
		t.Helper()
		if err := k.read(p.Reader(), run); err != nil || len(k.fold.Run.Iterations) != want {
			t.Errorf("%d iterations, %v; want %d", len(k.fold.Run.Iterations), err, want)
		}
		if data, err := os.ReadFile(path); err == nil {
			if err = os.WriteFile(path, bytes.Repeat([]byte{'\n'}, len(data)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := func(n int) {
		p.Add(state.NewEvent(state.Origin{Run: run, Iteration: n}, time.Now(), state.IterationStart{Title: "next"}))
	}
	move := func(n int) {
		if err := os.Rename(path, filepath.Join(p.StateDir(), fmt.Sprintf("events-2026-11-20T0%d-00-00.000.jsonl", n))); err != nil {
			t.Fatal(err)
		}
	}
	look(7)
	look(7)
	next(8)
	look(8)
	next(9) // the rest of a file that is moved
	move(1)
	look(9) // the new one is not there yet
	next(10)
	look(10)
	next(11)
	look(11)
	p.Add(state.NewEvent(state.Origin{Run: "another"}, time.Now(), state.RunStart{}),
		state.NewEvent(state.Origin{Run: "another", Iteration: 1}, time.Now(), state.IterationStart{}))
	run = "another"
	look(1)
}
