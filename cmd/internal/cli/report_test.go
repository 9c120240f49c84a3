package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state"
)

// save writes the report of a run, as its end does.
func (w *pastWorld) save(run string) {
	w.t.Helper()
	writer, _, err := state.Acquire(filepath.Join(w.Dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: run, StartedAt: time.Now()})
	if err == nil {
		err = saveReport(w.t.Context(), writer, run, nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := writer.Release(); err != nil {
		w.t.Fatal(err)
	}
}

// told replaces the events by those of runs that completed, one an hour.
func (w *pastWorld) told(runs ...string) {
	w.t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b strings.Builder
	for _, run := range runs {
		for _, p := range []state.Payload{state.RunStart{Agent: "claude", Total: 2}, state.RunEnd{Usage: state.Usage{CostUSD: 0.5}}} {
			at = at.Add(30 * time.Minute)
			data, err := json.Marshal(state.NewEvent(state.Origin{Run: run}, at, p))
			if err != nil {
				w.t.Fatal(err)
			}
			b.Write(append(data, '\n'))
		}
	}
	w.write(".ralph/events.jsonl", b.String())
}

func TestReport_ofARun_namesTasksAndShowsTheirDiffs(t *testing.T) {
	w := newPastWorld(t)
	w.write(".ralph/status.json", `{"v":1,"run_id":"`+pastRun+`","status":"failed"}`)
	out := w.want(0, "T1 first", "report", pastRun)
	for _, want := range []string{"commit " + w.git("rev-parse", "HEAD^")[:10], "Failed", "ralph resume", "tick without work: T1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	w.want(0, `"exit_code"`, "report", "--json")
	w.want(0, "# Failed", "report", "--md")
	page := w.want(0, "Content-Security-Policy", "report", "--html", "-")
	if !strings.Contains(page, `<span class="add">&#43;one</span>`) && !strings.Contains(page, `<span class="add">+one</span>`) {
		t.Errorf("no diff in\n%s", page)
	}
	file := filepath.Join(t.TempDir(), "night.html")
	w.want(0, "", "report", "--html", file)
	if data, err := os.ReadFile(file); err != nil || string(data) != page {
		t.Errorf("the file differs: %v", err)
	}
	w.want(state.ExitUsage, `run "nope" is not known here`, "report", "nope")
	w.want(state.ExitUsage, "", "report", "--md", "--json")
}

func TestReport_nothingHasRun_saysSo(t *testing.T) {
	w := newEmptyWorld(t)
	w.want(4, "nothing has run here yet", "report")
	w.want(4, "no runs are known", "runs")
	if code, out := w.do("runs", "--json"); code != 4 || !strings.HasPrefix(out, "[]") {
		t.Error(out)
	}
}

func TestReport_eventsAreGone_theRecordRemains(t *testing.T) {
	w := newPastWorld(t)
	w.told("a1", "b2")
	w.save("a1")
	w.told("b2")
	for _, want := range []string{"Completed: 0 of 2 tasks done after 30m 00s", "$0.50"} {
		w.want(0, want, "report", "a1")
		w.want(0, want, "runs", "show", "a1")
	}
	w.want(0, "Completed", "report", "a1", "--md")
}

func TestRuns_recordsAndEvents_areOneListLatestFirst(t *testing.T) {
	w := newPastWorld(t)
	w.told("a1", "b2")
	w.save("a1")
	_, out := w.do("runs", "--json")
	var rows []struct {
		ID, Project, Status string
		Exit                int     `json:"exit_code"`
		Total               int     `json:"tasks_total"`
		USD                 float64 `json:"cost_usd"`
		Seconds             float64
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err, out)
	}
	if len(rows) != 2 || rows[0].ID != "b2" || rows[1].ID != "a1" || rows[0].Status != "completed" || rows[0].Total != 2 || rows[0].USD != 0.5 || rows[0].Seconds != 1800 {
		t.Errorf("%+v", rows)
	}
	w.want(0, "30m 00s", "runs")
	w.want(0, "forgot 1 run", "runs", "prune", "--keep", "0")
	w.want(state.ExitUsage, "at least 0", "runs", "prune", "--keep", "-1")
	w.want(state.ExitUsage, `--keep: "x" is not allowed: a whole number`, "runs", "prune", "--keep", "x")
	if left, _ := filepath.Glob(filepath.Join(strings.ReplaceAll(w.Dir, "[", `\[`), ".ralph/reports/a1*")); len(left) > 0 {
		t.Error(left)
	}
	if _, out := w.do("runs"); strings.Contains(out, "a1") || !strings.Contains(out, "b2") {
		t.Errorf("a1 was pruned, b2 was not: %s", out)
	}
	w.want(state.ExitUsage, `unknown command "x" for "ralph runs"`, "runs", "x")
}

// A command after -- has names of files; a check has none.

func TestUndo_keptReport_isWrittenAgain(t *testing.T) {
	w := newPastWorld(t)
	w.save(pastRun)
	w.write(".ralph/status.json", `{"v":1,"run_id":"20260103-030405-abcd","status":"completed"}`)
	w.want(0, "undone in commit", "undo", "2", "--run", pastRun, "--yes")
	for _, ext := range []string{".html", ".md", ".json"} {
		page, err := os.ReadFile(filepath.Join(w.Dir, ".ralph", "reports", pastRun+ext))
		if err != nil || !strings.Contains(string(page), "taken back by ralph undo") {
			t.Errorf("%s: %v\n%s", ext, err, page)
		}
	}
}

// The lock that undo holds is not that of a run.
func TestUndo_lastRun_keptReportSaysHowItEnded(t *testing.T) {
	w := newPastWorld(t)
	w.save(pastRun)
	w.ended(state.Status{Status: state.StatusCompleted, ExitReason: "plan_complete", Rule: "complete"})
	w.want(0, "undone in commit", "undo", "2", "--yes")
	rep, err := recordedReport(state.Open(filepath.Join(w.Dir, state.DirName)), pastRun)
	if err != nil || rep.Status != state.StatusCompleted || !strings.HasPrefix(rep.Result, "Completed, and undone in part since") {
		t.Errorf("%+v, %v", rep, err)
	}
}
