package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/git"
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
	w.want(0, "1  T1 first  cut off", "iterations", "--run", pastRun)
	writer, _, err := state.Acquire(filepath.Join(w.Dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: pastRun, StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Release()
	w.want(0, "1  T1 first  running", "iterations", "--run", pastRun)
	w.want(state.ExitUsage, "iteration 1 is still running; what it changes is known when it ends", "diff", "--run", pastRun)
}

func TestIterations_recordedRun_isRead(t *testing.T) {
	w := newEmptyWorld(t)
	data, err := os.ReadFile("../../../state/testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	w.write(".ralph/events.jsonl", string(data))
	out := w.want(0, "failed: test", "iterations", "--run", "20261122-022953-440c")
	for _, want := range []string{`1  .todo done N. marks.* Nov 22 .* 1 passed +0 +2 +0\.06 +- +completed-turn`, `5  .* 1 passed +1 +2 +0\.08`, `6  .* 0\.02`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestIterations_evilTexts_areInertAlsoInJSON(t *testing.T) {
	w := newEmptyWorld(t)
	const evil = "\u009b2J\u202egone\U000e0041"
	line := fmt.Sprintf(`{"v":2,"seq":1,"time":"2026-11-20T04:30:00Z","kind":"iteration_start","run":%q,"iteration":1,"data":{"title":%q}}`, pastRun, evil)
	w.write(".ralph/events.jsonl", strings.ReplaceAll(line, `\U000e0041`, "\U000e0041")+"\n")
	out := w.want(0, "gone", "iterations", "--json", "--run", pastRun)
	if termtext.Clean(out) != out {
		t.Errorf("%q", out)
	}
	var rows []struct{ Task string }
	if err := json.Unmarshal([]byte(out), &rows); err != nil || rows[0].Task != evil {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestIterations_bracketInThePath_findsTheOlderEvents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b", "c]*?")
	w := state.Open(filepath.Join(dir, state.DirName))
	for name, text := range map[string]string{"events-2026-11-20T04-30-00.000.jsonl": "", "events.jsonl": ""} {
		path := filepath.Join(w.Dir(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.EventFiles()
	if err != nil || len(files) != 2 {
		t.Errorf("%q, %v", files, err)
	}
}

func TestIterations_runThatMadeNone_isAnEmptyArray(t *testing.T) {
	w := newPastWorld(t)
	k, _ := git.NewKeeper(w.Dir)
	w.keep(k, git.State{Run: "empty", Iteration: 1, Start: true})
	if _, out := w.do("iterations", "--json", "--run", "empty"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%q", out)
	}
}

func TestIterations_number_showsOnlyThatOne(t *testing.T) {
	w := newPastWorld(t)
	if out := w.want(0, "T2 second", "iterations", "2"); strings.Contains(out, "T1 first") || strings.Contains(out, "T3 third") {
		t.Error(out)
	}
	w.want(state.ExitUsage, "has no iteration 9; see: ralph iterations", "iterations", "9")
	w.want(state.ExitUsage, `"x" is not the number of an iteration`, "iterations", "x")
}
