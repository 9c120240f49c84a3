package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/git"
	"ralph/state"
)

// ended is the status that a run leaves.
func (w *pastWorld) ended(s state.Status) {
	w.t.Helper()
	writer, _, err := state.Acquire(filepath.Join(w.Dir, state.DirName), state.Owner{PID: 1, RunID: pastRun, StartedAt: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	s.RunID, s.Timestamp = pastRun, time.Now()
	if err := writer.SaveStatus(s); err != nil {
		w.t.Fatal(err)
	}
	if err := writer.Release(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *pastWorld) status() (s state.Status) {
	w.t.Helper()
	_, out := w.do("status", "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return s
}

// The run ended as it did; what was taken back since is said beside it.
func TestUndo_ofACompletedRun_statusAndResumeKnow(t *testing.T) {
	world.Long(t, "many runs of verbs")
	for status, c := range map[string]struct{ word, why, open string }{
		state.StatusCompleted: {"state     ○ undone", "all was done, then iteration 2 was undone", ": 1 of 4 tasks open"},
		state.StatusReview:    {"state     ? review", "4 of 4 tasks are done; iteration 2 was undone", " (rule complete, exit code 0)"},
	} {
		w := newPlanWorld(t, true, true)
		w.ended(state.Status{Status: status, ExitReason: "plan_complete", Rule: "complete", Reason: "4 of 4 tasks are done", Task: state.TaskStatus{Done: 4, Total: 4},
			Review: []state.ReviewItem{{N: 1, Text: "fewer tests", Show: "ralph diff 1"}}})
		w.want(0, "undone in commit", "undo", "2", "--yes")
		out := w.want(1, c.word, "status")
		for _, want := range []string{c.why + c.open, "3/4 done · two", "ralph resume"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: status lacks %q:\n%s", status, want, out)
			}
		}
		if strings.Contains(out, "ralph accept") {
			t.Errorf("%s: an open run asks for acceptance:\n%s", status, out)
		}
		s := w.status()
		if s.Status != status || s.ExitReason != "plan_complete" || s.ExitCode != state.ExitComplete || s.Undone != 1 || !s.Ending().Unfinished() || s.Task.Title != "two" {
			t.Errorf("%s: %+v", status, s)
		}
		w.want(0, "nothing to resume: run "+pastRun+" is "+status+": "+c.why+" (exit code 0); continue it with: ralph resume", "resume", "--unfinished")
		if status == state.StatusReview {
			w.want(state.ExitUsage, "iterations were undone since; continue first: ralph resume", "accept")
		}
		w.want(0, "", "undo", "4", "--yes")
		if s := w.status(); s.Task.Done != 2 || strings.Count(s.Reason, "was undone") != 2 {
			t.Errorf("%s: after another one %+v", status, s)
		}
	}
}

func TestUndo_ofAHaltedRun_keepsItsEnd(t *testing.T) {
	w := newPlanWorld(t, false, true)
	w.ended(state.Status{Status: state.StatusHalted, ExitReason: "same_error", Rule: "same_error", ExitCode: 3, Reason: "five times the same", Next: "fix it", Task: state.TaskStatus{Done: 4, Total: 4}})
	w.want(0, "in the work tree", "undo", "3", "--yes")
	s := w.status()
	if s.Status != state.StatusHalted || s.ExitCode != 3 || s.Next != "fix it" || s.Reason != "five times the same; iteration 3 was undone" || s.Task.Done != 3 {
		t.Errorf("%+v", s)
	}
}

// git names each file that does not fit on two lines.
func TestUndo_severalFilesDoNotFit_isRefusedInOneLine(t *testing.T) {
	w := newPastWorld(t)
	k, _ := git.NewKeeper(w.Dir)
	for _, text := range []string{"a\n", "b\n", "c\n"} {
		w.write("x.txt", text)
		w.write("y.txt", text)
		w.git("add", "-A")
		w.git("commit", "-qm", text)
		if text != "c\n" {
			base := w.git("rev-parse", "HEAD~1")
			w.keep(k, git.State{Run: pastRun, Iteration: 4, Base: base})
		}
	}
	w.keep(k, git.State{Run: pastRun, Iteration: 5, Base: w.git("rev-parse", "HEAD~1")})
	out := w.want(2, "later changes depend on iteration 4; undo first: iteration 5; nothing was changed", "undo", "4", "--yes")
	if strings.Count(out, "\n") != 1 {
		t.Errorf("%q", out)
	}
}

// Nothing may start on files that are half undone.
func TestUndo_killedAndTheIndexLocked_noVerbGoesOn(t *testing.T) {
	w := newPastWorld(t)
	w.write(".git/index.lock", "")
	w.want(state.ExitUsage, "nothing to accept", "accept")
	if err := os.MkdirAll(w.Loader(w.Dir, nil).UndoPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	w.want(1, "index.lock", "accept")
}
