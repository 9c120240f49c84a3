package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/state"
)

func TestHelp_ofRoot_isInLayersHoweverItIsCalled(t *testing.T) {
	dir := t.TempDir()
	help := func(args ...string) string {
		out := &strings.Builder{}
		f := &cmdline.Factory{In: os.Stdin, Out: out, Err: out, Dir: dir}
		if text, code := execute(f, args); code != 0 {
			t.Errorf("ralph %q: exit code %d: %s", args, code, text)
		}
		return out.String()
	}
	all := help("help", "all")
	for _, group := range table() {
		for _, verb := range group.verbs {
			cmd := verb.make(cmdline.New())
			if group.title != "" && !strings.Contains(all, "\n  "+cmd.Name()+" ") {
				t.Errorf("ralph help all does not list %s:\n%s", cmd.Name(), all)
			}
			if names := append([]string{cmd.Name()}, cmd.Aliases...); strings.Join(names, " ") != verb.names {
				t.Errorf("the row %q makes the verb %q", verb.names, names)
			}
		}
	}
	want := help("help")
	for _, verb := range firstVerbs() {
		if !strings.Contains(want, "\n  "+verb+" ") {
			t.Errorf("ralph help does not list %s:\n%s", verb, want)
		}
	}
	if strings.Contains(want, "\n  drill ") || !strings.Contains(want, "ralph help all") {
		t.Errorf("ralph help is not for a first night:\n%s", want)
	}
	if diff := cmp.Diff(all, help("--help-all")); diff != "" {
		t.Errorf("ralph --help-all differs from ralph help all:\n%s", diff)
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

// Without a terminal, help is 80 columns wide. Examples are to be copied.
func TestHelp_ofEachVerb_fitsIntoTheTerminal(t *testing.T) {
	each(Root(), func(cmd *cobra.Command) {
		out := &strings.Builder{}
		cmd.SetOut(out)
		printHelp(cmd, helpColumns, true)
		text, example, _ := strings.Cut(out.String(), "\nExamples:\n")
		_, flags, _ := strings.Cut(example, "\n\n")
		for line := range strings.Lines(text + "\n" + flags) {
			tools := strings.Contains(line, "TodoWrite,")                                 // a list that does not wrap
			if !tools && termtext.Width(strings.TrimSuffix(line, "\n")) > helpColumns+1 { // pflag is off by one
				t.Errorf("%s --help-all: %s", cmd.CommandPath(), line)
			}
		}
	})
}

func TestRun_onATerminalWhereNothingIsSetUp_saysWhatToType(t *testing.T) {
	otherHome(t)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	text, code := execute(&cmdline.Factory{In: tty, Out: tty, Err: tty, Dir: t.TempDir()}, nil)
	tty.Close()
	said, _ := io.ReadAll(ptmx)
	if lines := strings.Count(string(said), "\n"); code != state.ExitUsage || text != "" || lines != 3 || !strings.Contains(string(said), "ralph init ") {
		t.Errorf("exit code %d, %q, and on the terminal:\n%s", code, text, said)
	}
}

func TestHelp_ofRun_showsTheFirstFlagsAndThenAll(t *testing.T) {
	help := func(args ...string) string {
		out := &strings.Builder{}
		if text, code := execute(&cmdline.Factory{Out: out, Err: out, Dir: t.TempDir()}, args); code != 0 {
			t.Errorf("ralph %q: exit code %d: %s", args, code, text)
		}
		return out.String()
	}
	for _, verb := range []string{"run", "once"} {
		first, all := help(verb, "--help"), help(verb, "--help-all")
		for _, flag := range firstFlags() {
			if !strings.Contains(first, "--"+flag) || !strings.Contains(all, "--"+flag) {
				t.Errorf("ralph %s --help has no --%s:\n%s", verb, flag, first)
			}
		}
		if strings.Contains(first, "--fallback-agents") || !strings.Contains(first, verb+" --help-all") ||
			!strings.Contains(all, "--fallback-agents") {
			t.Errorf("ralph %s:\n%s\n%s", verb, first, all)
		}
	}
}
