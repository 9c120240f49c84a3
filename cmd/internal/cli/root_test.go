package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// A mistake on the command line is one line that helps, with exit code 2.
func TestCommandLine_mistakes_areOneLineThatHelps(t *testing.T) {
	otherHome(t)
	for _, test := range []struct{ typed, want string }{
		{"--max-iteration 3", "unknown flag: --max-iteration; did you mean --max-iterations?"},
		{"run --max_iterations 3", "unknown flag: --max_iterations; did you mean --max-iterations?"},
		{"run --frobnicate", "unknown flag: --frobnicate; see: ralph run --help"},
		{"status --foo", "unknown flag: --foo; see: ralph status --help"},
		{"config --foo", "unknown flag: --foo; see: ralph config --help"},
		{"resume --dry-run", "unknown flag: --dry-run; see: ralph resume --help"},
		{"--max-cost-usd 3", "unknown flag: --max-cost-usd; did you mean --max-cost?"},
		{"--headless --no-color --on-limit stop", "--no-color is a flag of another ralph; set NO_COLOR=1"},
		{"--headless --frobnicate --agent status", "unknown flag: --frobnicate; see: ralph run --help"},
		{"--headless status", "unknown flag: --headless; see: ralph status --help"},
		{"--once", "--once is a flag of another ralph; make one iteration with: ralph once"},
		{"once --max-cost-usd 3", "unknown flag: --max-cost-usd; did you mean --max-cost?"},
		{"report --run x", "unknown flag: --run; write: ralph report RUN"},
		{"--timout 3", "unknown flag: --timout; did you mean --timeout?"},
		{"--maximal-price 3", "unknown flag: --maximal-price; see: ralph run --help"},
		{"check --agnt x", "unknown flag: --agnt; did you mean --agent?"},
		{"-x", "unknown flag: -x; see: ralph run --help"},
		{"--timeout", "--timeout needs a value: "},
		{"--run", "unknown flag: --run"},
		{"--backup", "--backup is a flag of another ralph; every iteration is kept: ralph undo takes one back"},
		{"-b", "-b is a flag of another ralph; every iteration is kept: ralph undo takes one back"},
		{"run --completion-promise DONE", "<promise>COMPLETE</promise> is always understood"},
		{"rollback", `"rollback" is a command of another ralph; use: ralph undo N`},
		{"statu", `unknown command "statu" for "ralph"; did you mean status?`},
		{"rn", `unknown command "rn" for "ralph"; did you mean run?`},
		{"tsk", `unknown command "tsk" for "ralph"; did you mean task?`},
		{"foo", `unknown command "foo" for "ralph"; see: ralph --help`},
		{"frobnicate", `unknown command "frobnicate" for "ralph"; see: ralph --help`},
		{"agent remove", `unknown command "remove" for "ralph agent"; needs one of: add, list, use`},
		{"help statu", `unknown command "statu" for "ralph"; did you mean status?`},
		{"help frobnicate", `unknown command "frobnicate" for "ralph"; see: ralph --help`},
		{"help agent remove", `unknown command "remove" for "ralph agent"; needs one of: add, list, use`},
		{"help rollback", `"rollback" is a command of another ralph; use: ralph undo N`},
		{"pause T1 T2", "pause takes one task at most: ralph pause [TASK]"},
		{"status now", `status takes no arguments, but got "now"; see: ralph status --help`},
		{"--output-format text", "ralph always reads the agent's records"},
	} {
		f := &cmdline.Factory{In: os.Stdin, Out: &strings.Builder{}, Err: &strings.Builder{}, Dir: t.TempDir()}
		text, code := execute(f, strings.Fields(test.typed))
		if code != state.ExitUsage || !strings.Contains(text, test.want) || strings.Contains(text, "\n") {
			t.Errorf("ralph %s: exit code %d, says %q, want %q", test.typed, code, text, test.want)
		}
	}
}

// Verbs with verbs of their own answer a mistyped one, and those that only group others a missing one, in one way.
func TestSubverbs_mistypedOrMissing_areNamed(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	ownRun := []string{"learn", "runs"}
	for _, verb := range Root().Commands() {
		if !verb.HasSubCommands() {
			continue
		}
		path, name := verb.CommandPath(), verb.Commands()[0].Name()
		unknown := func(typed string) string { return "unknown command \"" + typed + "\" for \"" + path + "\"; " }
		for _, test := range []struct{ typed, want string }{
			{" frobnicate", unknown("frobnicate") + "needs one of: " + name},
			{" " + name + "x", unknown(name+"x") + "did you mean " + name + "?"},
			{"", path + " needs one of: " + name},
		} {
			if test.typed == "" && slices.Contains(ownRun, verb.Name()) {
				continue
			}
			f := &cmdline.Factory{In: os.Stdin, Out: &strings.Builder{}, Err: &strings.Builder{}, Dir: dir}
			text, code := execute(f, strings.Fields(verb.Name()+test.typed))
			if code != state.ExitUsage || !strings.HasPrefix(text, test.want) || strings.Contains(text, "\n") {
				t.Errorf("%s%s: exit code %d, says %q, want %q", path, test.typed, code, text, test.want)
			}
		}
	}
}

// A hint must not name a flag or verb that ralph lacks, nor hide one that it has.
func TestForeign_hints_nameWhatExists(t *testing.T) {
	root, _ := newRootCmd(cmdline.New())
	verbs := map[string]bool{}
	flags := map[string]bool{}
	for _, c := range root.Commands() {
		verbs[c.Name()] = true
	}
	root.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name], flags["-"+f.Shorthand] = true, true })
	for name, ours := range cmdline.ForeignVerbs() {
		words := strings.Fields(ours)
		if verbs[name] || words[0] != "ralph" || !verbs[words[1]] && !flags[words[1]] {
			t.Errorf("%s: %s", name, ours)
		}
	}
	for name, ours := range cmdline.ForeignFlags() {
		if flags[name] {
			t.Errorf("ralph has %s", name)
		}
		words := strings.Fields(ours)
		for i, w := range words {
			if strings.HasPrefix(w, "--") && !flags[w] || w == "ralph:" || w == "with:" && words[i+1] == "ralph" && !verbs[words[i+2]] {
				t.Errorf("%s: %q names %s", name, ours, w)
			}
		}
	}
}

// Flags of other programs called ralph, from their own help; without those that ralph has.
func TestForeign_flagsOfOtherTools_haveAHint(t *testing.T) {
	for tool, flags := range map[string]string{
		"ralphex": "--debug --dump-defaults --host --no-color --reset --watch --base-ref " +
			"--branch --codex-only --external-only --init --port --review --serve --tasks-only --worktree",
		"ralph-tui": "--epic --no-network --no-sandbox --no-tui --prd --theme --tracker",
		"ralph-claude-code": "--comment-interval --followup-label --halt-on-failure --queue-remove --sandbox-cost-alert " +
			"--sandbox-id --sandbox-keep-alive --backup --create-pr --github-issue --process-queue --sandbox-image --sync-include",
		"snarktank": "--tool",
	} {
		for _, flag := range strings.Fields(flags) {
			if cmdline.ForeignFlags()[flag] == "" {
				t.Errorf("%s: no hint for %s", tool, flag)
			}
		}
	}
}

func TestCompat_flagForms_areTheVerbs(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	want, _ := verb(t, dir, "status")
	for _, flag := range []string{"--status", "-s"} {
		out, err := verb(t, dir, flag)
		if out != want || cmdline.ExitCode(err) != 4 || out == "" {
			t.Errorf("%s: %v, says %q, want %q", flag, err, out, want)
		}
	}
	if out, err := verb(t, dir, "--circuit-status"); err != nil || !strings.Contains(out, "circuit breaker: CLOSED") {
		t.Errorf("%v, %q", err, out)
	}
	if out, err := verb(t, dir, "--reset-circuit"); err != nil || !strings.Contains(out, "CLOSED") {
		t.Errorf("%v, %q", err, out)
	}
	// Known to existing scripts; the error is the missing prompt, not the flag.
	if _, err := verb(t, dir, "--output-format", "json"); err == nil || !strings.Contains(err.Error(), "no prompt") {
		t.Error(err)
	}
}

func TestHelp_runFlags_areListedWhereTheyRunSomething(t *testing.T) {
	for _, test := range []struct {
		typed string
		lists bool
	}{{"run", true}, {"once", true}, {"config", false}, {"doctor", false}, {"check", false}, {"drill", false}, {"", false}} {
		out := &strings.Builder{}
		if text, code := execute(&cmdline.Factory{Out: out, Err: out}, append(strings.Fields(test.typed), "--help")); code != 0 {
			t.Fatal(text)
		}
		if strings.Contains(out.String(), "--max-iterations N") != test.lists {
			t.Errorf("ralph %s --help:\n%s", test.typed, out)
		}
	}
}

// complete is what the shell offers for a command line.
func complete(t *testing.T, dir string, typed ...string) []string {
	t.Helper()
	out := &strings.Builder{}
	f := &cmdline.Factory{In: os.Stdin, Out: out, Err: &strings.Builder{}, Env: os.Environ(), Dir: dir}
	if text, code := execute(f, append([]string{cobra.ShellCompRequestCmd}, typed...)); code != 0 {
		t.Fatal(text)
	}
	var words []string
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words = append(words, word)
	}
	return words
}

func TestCompletion_values_areOffered(t *testing.T) {
	w := newPastWorld(t)
	w.write(".ralph/config.yaml", "agents:\n  mine: {command: x}\nchecks:\n  - {name: unit, command: make}\n")
	for _, test := range []struct {
		typed []string
		want  string
	}{
		{[]string{"config", "--on-limit", ""}, "stop"},
		{[]string{"run", "--permission-mode", ""}, "bypass"},
		{[]string{"run", "--output", ""}, "json"},
		{[]string{"config", "--max-it"}, "--max-iterations"},
		{[]string{"--max-it"}, "--max-iterations"},
		{[]string{"drill", ""}, "usage-limit"},
		{[]string{"import", "--template", ""}, "api"},
		{[]string{"monitor", "--theme", ""}, "dark"},
	} {
		if got := complete(t, w.Dir, test.typed...); !slices.Contains(got, test.want) {
			t.Errorf("%q: %q, want %s", test.typed, got, test.want)
		} else if sorted := slices.Sorted(slices.Values(got)); len(slices.Compact(sorted)) < len(got) {
			t.Errorf("%q: %q has a word twice", test.typed, got)
		}
	}
}

func TestDiff_withoutAnArgument_isTheLastIteration(t *testing.T) {
	w := newPastWorld(t)
	w.want(0, "+three", "diff")
	w.want(0, "three.txt | 1 +", "diff", "--stat")
}
