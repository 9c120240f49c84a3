package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/cmd/internal/cmdline"
)

func TestVerbs_helpOfRoot_listsAllHoweverItIsCalled(t *testing.T) {
	dir := t.TempDir()
	help := func(args ...string) string {
		out := &strings.Builder{}
		f := &cmdline.Factory{In: os.Stdin, Out: out, Err: out, Dir: dir}
		if text, code := execute(f, args); code != 0 {
			t.Errorf("ralph %q: exit code %d: %s", args, code, text)
		}
		return out.String()
	}
	want := help("help")
	for _, group := range table() {
		for _, verb := range group.verbs {
			cmd := verb.make(cmdline.New())
			if group.title != "" && !strings.Contains(want, "\n  "+cmd.Name()+" ") {
				t.Errorf("ralph help does not list %s:\n%s", cmd.Name(), want)
			}
			if names := append([]string{cmd.Name()}, cmd.Aliases...); strings.Join(names, " ") != verb.names {
				t.Errorf("the row %q makes the verb %q", verb.names, names)
			}
		}
	}
	for _, args := range [][]string{{"--help"}, {"-h"}, {"-vh"}, {"-v", "--help"}, {"--agent", "status", "--help"}} {
		if diff := cmp.Diff(want, help(args...)); diff != "" {
			t.Errorf("ralph %q differs from ralph help:\n%s", args, diff)
		}
	}
	for _, args := range [][]string{{"status", "--help"}, {"help", "status"}} {
		if out := help(args...); !strings.Contains(out, "ralph status [flags]") || strings.Contains(out, "import") {
			t.Errorf("ralph %q:\n%s", args, out)
		}
	}
}
