package cli

import (
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

func TestNote_writtenAndListed(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	for _, c := range []struct {
		typed []string
		exit  int
		want  string
	}{
		{[]string{"note"}, 0, "no notes; write one with: ralph note TEXT"},
		{[]string{"note", " "}, state.ExitUsage, "the note is empty"},
		{[]string{"note", strings.Repeat("x", state.MaxNote+1)}, state.ExitUsage, "the note has 8001 bytes; at most 8000 are allowed"},
		{[]string{"note", "use", "UTC"}, 0, "note n1 waits for the next prompt: use UTC"},
		{[]string{"note", "--", "-v is for verbose"}, 0, "note n2 waits"},
		{[]string{"note"}, 0, "n1  waits for the next prompt: use UTC\n"},
	} {
		out, err := verb(t, dir, c.typed...)
		if err != nil {
			out += err.Error()
		}
		if cmdline.ExitCode(err) != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("ralph %.40q: exit code %d, says %q, want %q", c.typed, cmdline.ExitCode(err), out, c.want)
		}
	}
	s := state.Notes(cmdline.OpenState(dir))
	all, err := s.List()
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	all[0].Iteration = 12
	if err := s.Save(all[0]); err != nil {
		t.Fatal(err)
	}
	if out, err := verb(t, dir, "note"); err != nil || !strings.Contains(out, "n1  went into iteration 12: use UTC") {
		t.Error(out, err)
	}
}
