package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/cmd/internal/cmdline"
)

// A verb is made only if its row names it.
func TestVerbs_namesOfRows_areThoseOfTheirCommands(t *testing.T) {
	for _, row := range table() {
		var names []string
		for _, cmd := range row.make(cmdline.New()) {
			names = append(append(names, cmd.Name()), cmd.Aliases...)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(row.names)), slices.Sorted(slices.Values(names))); diff != "" {
			t.Errorf("row %v:\n%s", row.names, diff)
		}
	}
}

// Whoever makes few verbs must not show fewer.
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
	for _, row := range table() {
		for _, name := range row.names {
			if row.group != "" && name != "sessions" && !strings.Contains(want, "\n  "+name+" ") {
				t.Errorf("ralph help does not list %s:\n%s", name, want)
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

func TestVerbs_verbThatIsCalled_isMadeAlone(t *testing.T) {
	f := cmdline.New()
	f.Words = []string{"status"}
	root, _ := newRootCmd(f)
	if all := root.Commands(); len(all) != 1 || all[0].Name() != "status" {
		t.Errorf("%d verbs", len(all))
	}
	if root.Flags().Lookup("max-iterations") != nil {
		t.Error("root has the flags of a run")
	}
}
