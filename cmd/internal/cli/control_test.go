package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/config"
	"ralph/state"
)

// starting holds the lock of a new project, and collects what is told.
func starting(t *testing.T) (*app, *state.Writer, *strings.Builder) {
	t.Helper()
	otherHome(t)
	dir := t.TempDir()
	w, _, err := state.Acquire(filepath.Join(dir, state.DirName), state.Owner{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Release() })
	said := &strings.Builder{}
	return &app{err: said, dir: dir, env: os.Environ()}, w, said
}

// A start that is killed before status.json names it leaves the run before to
// go on with, however often; once it is named, no earlier one is.
func TestKeep_startsThatAreKilledEarly_leaveTheRunBeforeResumable(t *testing.T) {
	a, w, said := starting(t)
	begin := func(run string, flags ...string) func(state.Event) {
		t.Helper()
		named := a.keep(w.Reader, config.KeptRun{Run: run, Flags: flags})
		if err := w.SaveRunFlags(run, flags); err != nil {
			t.Fatal(err)
		}
		return named
	}
	name := func(run string, named func(state.Event)) {
		t.Helper()
		if err := w.SaveStatus(state.Status{RunID: run}); err != nil {
			t.Fatal(err)
		}
		named(state.Event{Kind: state.KindIterationStart})
	}
	resumable := func(run string, want bool) {
		t.Helper()
		if _, err := a.again(w.Reader, run); (err == nil) != want {
			t.Errorf("run %s: %v, want it resumable: %v", run, err, want)
		}
	}
	name("a", begin("a", "--permission-mode=bypass"))
	resumable("a", true)
	begin("b")
	resumable("a", true)
	named := begin("c", "--calls=7")
	named(state.Event{Kind: state.KindRunStart})
	resumable("a", true)
	name("c", named)
	resumable("c", true)
	resumable("a", false)
	resumable("b", false)
	// An agent names the earlier run, and the next start is killed early.
	if err := w.SaveStatus(state.Status{RunID: "a"}); err != nil {
		t.Fatal(err)
	}
	begin("d")
	resumable("a", false)
	if said.Len() > 0 {
		t.Error(said.String())
	}
}

func TestAgain_changedFlagsWithEscapesAndLines_areSaidInert(t *testing.T) {
	a, w, said := starting(t)
	a.keep(w.Reader, config.KeptRun{Run: "c"})
	if err := w.SaveRunFlags("c", []string{"--model=\x1b[2J\u009b2J\nralph: all is well"}); err != nil {
		t.Fatal(err)
	}
	_, err := a.again(w.Reader, "c")
	a.report("ralph", err)
	if strings.ContainsAny(said.String(), "\x1b\u009b") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("said %q", said.String())
	}
}

// What an agent writes into status.json is one line and moves no cursor.
func TestStatusFields_withEscapesAndLines_areSaidInert(t *testing.T) {
	const evil = "\x1b[2J\u009b2J\u202egone\nralph: next: run evil"
	on, w, _ := starting(t)
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
		out, err := verb(t, on.dir, argv...)
		if err != nil {
			var errs strings.Builder
			(&app{err: &errs}).report("ralph", err)
			out += errs.String()
		}
		if out == "" || strings.ContainsAny(out, "\x1b\u009b\u202e") {
			t.Errorf("%q says %q", argv, out)
		}
		if argv[0] == "resume" && strings.Count(out, "\n") != 1 {
			t.Errorf("%q says more than one line: %q", argv, out)
		}
	}
}
