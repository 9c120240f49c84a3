package act_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/state/act"
)

// program writes a ralph that does what a script says.
func program(t *testing.T, script string) act.Ralph {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ralph")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return act.In(path, t.TempDir())
}

func TestRun_lastLine_saysWhatHappened(t *testing.T) {
	for name, c := range map[string]struct{ script, out, line, failure string }{
		"done":                {"echo one; echo two", "one\ntwo\n", "two", ""},
		"done with a warning": {"echo done; echo 'ralph: careful' >&2", "done\n", "done", ""},
		"only a warning":      {"echo 'ralph: careful' >&2", "", "careful", ""},
		"nothing":             {"", "", "", ""},
		"control characters":  {`printf 'a\033[1mb\n\n'`, "a\x1b[1mb\n\n", "ab", ""},
		"failed":              {"echo out; printf 'one\nralph: no plan\n' >&2; exit 2", "out\n", "no plan", "no plan"},
		"failed on stdout":    {"echo no plan; exit 1", "no plan\n", "no plan", "no plan"},
		"failed in silence":   {"exit 3", "", "exit status 3", "exit status 3"},
		"arguments":           {`echo "$@"`, "", "-C DIR task list", ""},
		"folder":              {`test "$PWD" = "$2" && echo same`, "same\n", "same", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := program(t, c.script)
			s := r.Run(t.Context(), "task", "list")
			line := strings.ReplaceAll(s.Line(), r.Dir, "DIR")
			failure := ""
			if err := s.Failure(); err != nil {
				failure = err.Error()
			}
			if line != c.line || failure != c.failure || c.out != "" && string(s.Out) != c.out {
				t.Errorf("%q, %q, out %q; want %+v", line, failure, s.Out, c)
			}
		})
	}
}

// Others may write the arguments: the text of an agent, the reply of a person.
func TestRun_argumentThatNoProgramTakes_saysWhatIsAllowed(t *testing.T) {
	for _, arg := range []string{"a\x00b", strings.Repeat("x", 200<<10)} {
		s := program(t, "echo started").Run(t.Context(), "answer", "--", "q1", arg)
		if got, want := s.Line(), "a text has at most 102400 bytes, and no NUL"; got != want || s.Err == nil {
			t.Errorf("%.10q: %q, want %q", arg, got, want)
		}
	}
}

func TestRun_longOutput_keepsItsBeginningAndItsLastLine(t *testing.T) {
	r := program(t, "seq 100000; echo end")
	r.Most = 10
	if s := r.Run(t.Context(), "diff"); string(s.Out) != "1\n2\n3\n4\n5\n" || s.Text != "end" || s.Size != 588899 {
		t.Errorf("%q, %q, %d bytes", s.Out, s.Text, s.Size)
	}
	r.Most = 0
	if out, err := r.Output(t.Context(), "diff"); len(out) != 588899 || err != nil {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestRun_doesNotEnd_isKilled(t *testing.T) {
	r := program(t, "echo begun; exec sleep 60") // sleep: the verb hangs
	r.Bound = 50 * time.Millisecond
	if got := r.Run(t.Context(), "skip").Line(); got != "ralph did not answer within 50ms" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s := r.Run(ctx, "skip"); s.Failure() == nil || strings.Contains(s.Line(), "answer") {
		t.Errorf("cancelled: %q", s.Line())
	}
	if _, err := (act.Ralph{Command: []string{filepath.Join(r.Dir, "none")}}).Output(t.Context(), "skip"); err == nil {
		t.Error("there is no such program")
	}
}
