package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/runner/output"
	"ralph/state"
)

func TestEvent_startOfAnIteration_isOnDiskBeforeTheCall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), state.DirName)
	w, _, err := state.Acquire(dir, state.Owner{PID: os.Getpid(), RunID: "r", StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Release() })
	o := &output.Output{State: w, Log: hclog.NewNullLogger()}
	err = o.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	o.Event(state.NewEvent(state.Origin{Run: "r", Iteration: 1}, time.Now(), state.IterationStart{Title: "one"}))
	for path, want := range map[string]string{w.EventsPath(): `"kind":"iteration_start"`, w.LiveLogPath(): "iteration 1"} {
		if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s has %q, %v", path, data, err)
		}
	}
}
