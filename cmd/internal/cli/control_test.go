package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// What an agent writes into status.json is one line and moves no cursor.
func TestStatusFields_withEscapesAndLines_areSaidInert(t *testing.T) {
	const evil = "\x1b[2J\u009b2J\u202egone\nralph: next: run evil"
	otherHome(t)
	dir := t.TempDir()
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	s := state.Status{RunID: "a", Status: evil, Reason: evil, Rule: evil, Next: evil, Agent: evil, Task: state.TaskStatus{Title: evil}, Pending: evil}
	if err := w.SaveStatus(s); err != nil {
		t.Fatal(err)
	}
	b := state.Breaker{State: state.BreakerOpen, Reason: evil}
	if err := w.SaveBreaker(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Release(); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"resume", "--unfinished"}, {"resume"}, {"pause"}, {"status"}, {"status", "--json"}, {"--circuit-status"}, {"service", "status"}, {"iterations"}} {
		out, err := verb(t, dir, argv...)
		if err != nil {
			out += cmdline.Inert(err.Error()) + "\n"
		}
		if out == "" || strings.ContainsAny(out, "\x1b\u009b\u202e") {
			t.Errorf("%q says %q", argv, out)
		}
		if argv[0] == "resume" && strings.Count(out, "\n") != 1 {
			t.Errorf("%q says more than one line: %q", argv, out)
		}
	}
}

// Accepting the last item is the end of a completed run, which closes the breaker.
func TestAccept_lastItem_completesTheRunAndClosesTheBreaker(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	open := state.Breaker{State: state.BreakerOpen, Reason: "no progress", NoProgress: 3, TotalOpens: 2, LastProgressLoop: 7}
	items := []state.ReviewItem{{N: 1, Text: "one"}, {N: 2, Text: "two"}}
	s := state.Status{RunID: "a", Status: state.StatusReview, ExitCode: 9, Review: items, Breaker: state.BreakerStatus{State: open.State, Reason: open.Reason}}
	if err := errors.Join(w.SaveBreaker(open), w.SaveStatus(s), w.Release()); err != nil {
		t.Fatal(err)
	}
	r := state.Open(filepath.Join(dir, state.DirName))
	for _, step := range []struct {
		item, status, breaker string
	}{{"1", state.StatusReview, state.BreakerOpen}, {"2", state.StatusCompleted, state.BreakerClosed}} {
		if out, err := verb(t, dir, "accept", step.item); err != nil {
			t.Fatal(out, err)
		}
		s, err1 := r.Status()
		b, err2 := r.Breaker()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if s.Status != step.status || b.State != step.breaker || s.Breaker.State != step.breaker {
			t.Errorf("after item %s: %s, breaker %+v, shown as %+v", step.item, s.Status, b, s.Breaker)
		}
		if b.State == state.BreakerClosed && (b.Reason != "" || b.NoProgress != 0 || b.TotalOpens != 2 || b.LastProgressLoop != 7) {
			t.Errorf("closed: %+v", b)
		}
		if s.Proven || (s.Unproven != "") != (s.Status == state.StatusCompleted) {
			t.Errorf("after item %s: proven %v, %q", step.item, s.Proven, s.Unproven)
		}
	}
}

// living is a run that this process holds the lock of.
func living(t *testing.T, dir string) *state.Writer {
	t.Helper()
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid(), RunID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Release() })
	return w
}

// Who asks for a skip is told which task it is about.
func TestSkip_namesTheTask(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	w := living(t, dir)
	for status, want := range map[string]string{
		state.StatusRunning: `to skip "one\u202e"` + "\n",
		state.StatusPaused:  `to skip "one\u202e", which comes next` + "\n",
		state.StatusWaiting: `to skip "one\u202e", which comes next` + "\n",
	} {
		if err := w.SaveStatus(state.Status{RunID: "a", Status: status, Task: state.TaskStatus{ID: "1", Title: "one\u202e"}}); err != nil {
			t.Fatal(err)
		}
		if out, err := verb(t, dir, "skip"); err != nil || !strings.HasSuffix(out, want) {
			t.Errorf("%s: %q, %v", status, out, err)
		}
	}
}

// Who wants a run to go on is told if it waits on all the same.
func TestResume_waitThatItDoesNotEnd_saysSo(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	w := living(t, dir)
	for rule, want := range map[string]string{
		"usage_limit":      "to resume\n",
		state.RuleHourly:   "to resume, but it waits until its calls or tokens are counted anew\n",
		state.RuleQuestion: "to resume, but it waits until you answer: ralph questions\n",
	} {
		if err := w.SaveStatus(state.Status{RunID: "a", Status: state.StatusWaiting, Rule: rule}); err != nil {
			t.Fatal(err)
		}
		if out, err := verb(t, dir, "resume"); err != nil || !strings.HasSuffix(out, want) {
			t.Errorf("%s: %q, %v", rule, out, err)
		}
	}
}

// A person who gives the tasks another chance does not want the tries before it to count.
func TestReset_tasks_startsTheCountsAfresh(t *testing.T) {
	otherHome(t)
	for was, want := range map[string]state.Breaker{
		state.BreakerHalfOpen: {State: state.BreakerClosed},
		state.BreakerOpen:     {State: state.BreakerOpen, NoProgress: 2},
	} {
		dir := t.TempDir()
		w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.SaveBreaker(state.Breaker{State: was, NoProgress: 2}), w.SaveStatus(state.Status{RunID: "a"}), w.Release()); err != nil {
			t.Fatal(err)
		}
		if out, err := verb(t, dir, "reset", "--tasks"); err != nil {
			t.Fatal(out, err)
		}
		if b, err := w.Breaker(); err != nil || b.State != want.State || b.NoProgress != want.NoProgress {
			t.Errorf("%s: %+v %v", was, b, err)
		}
	}
}
