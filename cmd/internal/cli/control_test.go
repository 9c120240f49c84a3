package cli

import (
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
