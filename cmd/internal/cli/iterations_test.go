package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"ralph/state"
)

// What scripts read stays in the output, also where it is empty.
func TestIterations_asJSON_hasEveryFieldOfEarlierVersions(t *testing.T) {
	w := newPastWorld(t)
	_, out := w.do("iterations", "--json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"run", "iteration", "ended", "task", "outcome", "rule", "reason", "checks", "files", "cost_usd", "seconds", "state", "left_out", "findings", "undone",
	} {
		for i, row := range rows {
			if v, ok := row[name]; !ok || v == nil {
				t.Errorf("%s of row %d is %v", name, i, v)
			}
		}
	}
}

func TestIterations_runnerKilled_theLastOneIsCutOff(t *testing.T) {
	w := newEmptyWorld(t)
	start := fmt.Sprintf(`{"v":2,"seq":1,"time":"2026-11-20T04:30:00Z","kind":"iteration_start","run":%q,"iteration":1,"data":{"title":"T1 first"}}`, pastRun)
	w.write(".ralph/events.jsonl", start+"\n")
	w.want(0, "1  cut off", "iterations", "--run", pastRun)
	writer, _, err := state.Acquire(filepath.Join(w.Dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: pastRun, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Release()
	w.want(0, "1  running", "iterations", "--run", pastRun)
}

func TestIterations_eventsOfVersion1_areRead(t *testing.T) {
	w := newEmptyWorld(t)
	data, err := os.ReadFile("../../../state/testdata/events-v1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	w.write(".ralph/events.jsonl", string(data))
	out := w.want(0, "failed: test", "iterations", "--run", "20261122-022953-440c")
	for _, want := range []string{`1  Nov 22 .* completed-turn +1 passed +0 +2 +0\.06 +- +.todo done N. marks`, `5  .* 1 passed +1 +2 +0\.08`, `6  .* 0\.02`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
