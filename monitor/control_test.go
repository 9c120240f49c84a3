package monitor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state"
	"ralph/state/view"
)

func TestKeys_thatControlTheRunner_runItsVerbs(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24})
	p.shows("RUNNING", "line number 199", "following")
	p.keys("p")
	p.shows("pause will act soon")
	p.keys("?") // a message is gone with the next key
	p.hides("pause will act soon")
	p.shows("? Keys", "esc back")
	p.keys("Escape")
	p.hides("? Keys") // before the next key: together they would be Alt-s
	p.keys("s")
	p.shows("end this iteration and take the next task?")
	p.keys("n")
	p.hides("take the next task?")
	p.keys("s")
	p.shows("end this iteration and take the next task?")
	p.keys("y")
	p.shows("skip will act soon")
	p.keys("a")
	p.shows("end the run now")
	p.keys("n")
	p.hides("end the run now")
	p.keys("a")
	p.shows("end the run now")
	p.keys("y")
	p.shows("abort will act soon")
	if got := p.called(); got != "pause skip abort" {
		t.Errorf("the verbs were %q", got)
	}
	p.keys("q")
	p.shows("monitor ended")
}

func TestQuestionBefore_skipOfSeveralTurns_saysThatAllEnd(t *testing.T) {
	m := view.Model{Snapshot: view.Snapshot{State: state.StatusRunning}}
	m.Run.Iterations = []view.Iteration{{Number: 1, Ended: time.Now()}, {Number: 2}}
	if got := questionBeforeSkip(&m); got != "end this iteration and take the next task?" {
		t.Error(got)
	}
	m.Run.Iterations = append(m.Run.Iterations, view.Iteration{Number: 3})
	if got := questionBeforeSkip(&m); !strings.HasPrefix(got, "end all 2 current turns and take the next tasks?") {
		t.Error(got)
	}
}

func TestKeys_note_isTypedAndHandedOver(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{60, 15})
	p.shows("RUNNING")
	p.keys("i")
	p.shows("note for the next prompt:")
	p.keys("Escape")
	p.hides("note for the next prompt:")
	p.keys("i", "-", "q", "Enter")
	p.shows("note will act soon")
	if got := p.called(); got != "note -- -q" {
		t.Errorf("the call was %q", got)
	}
}

func TestScreen_noteThatWaits_isShownUntilAPromptHasIt(t *testing.T) {
	if testing.Short() {
		t.Skip("long: many screens")
	}
	pr := living(t)
	notes := state.Notes(pr.Reader())
	n, err := notes.Add("mind the tests")
	if err != nil {
		t.Fatal(err)
	}
	p := openPane(t, pr.Dir, [2]int{60, 15})
	p.shows("RUNNING", "1 note waits · iteration 7")
	if _, err := notes.Add("and this"); err != nil {
		t.Fatal(err)
	}
	p.shows("2 notes wait")
	n.Iteration = 8
	if err := notes.Save(n); err != nil {
		t.Fatal(err)
	}
	p.shows("1 note waits")
}

// Six seconds are easily missed by somebody who just looks away.
func TestKeys_verbThatFails_isShownInRedUntilItIsRead(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24}, "MONITOR_TEST_FAIL=1")
	p.shows("RUNNING", "line number 199")
	p.keys("p")
	p.shows("pause failed: no disk space")
	if red := p.tmux("capture-pane", "-p", "-e"); !strings.Contains(red, "\x1b[1m\x1b[31mpause failed") && !strings.Contains(red, "\x1b[1;31mpause failed") {
		t.Errorf("it is not red: %q", red[strings.LastIndex(strings.TrimSpace(red), "\n"):])
	}
	p.keys("j", "k", "w")
	p.shows("pause failed", "unwrapped")
	p.keys("Escape")
	p.hides("pause failed")
	p.shows("q quit", "unwrapped")
}

func TestKeys_pagerThatStopsItself_isResumed(t *testing.T) {
	pr := living(t)
	withPager(t, pr)
	pager := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\necho STOPS; kill -STOP $$; echo 'PAGER ENDS'; read x\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := openPane(t, pr.Dir, [2]int{80, 24}, "PAGER="+pager)
	p.shows("RUNNING")
	p.keys("o")
	p.shows("PAGER ENDS")
	p.keys("Enter")
	p.shows("RUNNING", "q quit")
	p.keys("q")
	p.shows("monitor ended")
}

func TestPaste_isNotPlayedAsKeys(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24})
	p.shows("RUNNING")
	p.tmux("set-buffer", "pin\nq\n")
	p.tmux("paste-buffer", "-p")
	p.keys("i")
	p.shows("note for the next prompt:")
	p.tmux("set-buffer", "mind\nthe tests")
	p.tmux("paste-buffer", "-p")
	p.shows("note for the next prompt: mind the tests")
	p.keys("Enter")
	p.shows("note will act soon")
	if got := p.called(); got != "note -- mind the tests" {
		t.Errorf("the verbs were %q", got)
	}
}
