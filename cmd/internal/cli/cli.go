// Package cli holds ralph's verbs: flags, wiring and exit codes.
//
// size of package: one file a verb; apart, they would have to export what they share
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/runner/rules"
	"ralph/state"
)

// Version is set by the release build; a plain build names its commit.
var Version = ""

// app is what every verb works with.
type app struct {
	in         *os.File
	out, err   io.Writer
	env        []string
	dir        string // -C; empty: found
	reportFile string // for an outer ralph; empty: none
	started    bool   // a verb began: what fails before is the command line
}

// exitError ends the program with a code of its own. Without a text the verb
// has said everything already.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func usageError(format string, args ...any) error {
	return &exitError{rules.ExitUsage, fmt.Sprintf(format, args...)}
}

// Main runs one command line and returns the exit code.
func Main(program string, args []string) int {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, reportFile: os.Getenv(reportVar)}
	_ = os.Unsetenv(reportVar) // not for the agent
	a.env = os.Environ()
	if len(args) > 0 && args[0] == demoAgentVerb {
		return a.demoAgent(args[1:])
	}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	return a.report(program, root.Execute())
}

// report prints an error in one line and turns it into the exit code.
func (a *app) report(program string, err error) int {
	if err == nil {
		return rules.ExitComplete
	}
	code := rules.ExitError
	var exit *exitError
	var usage *config.UsageError
	var locked *state.LockedError
	switch {
	case !a.started:
		code = rules.ExitUsage
	case errors.As(err, &exit):
		code = exit.code
	case errors.As(err, &usage):
		code = rules.ExitUsage
	case errors.As(err, &locked):
		code = rules.ExitLocked
	}
	if text := inert(err.Error()); text != "" {
		fmt.Fprintf(a.err, "%s: %s\n", program, text)
		a.keepReport(text)
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := a.runCommand("ralph")
	root.Short = "Run an AI coding agent again and again, with fresh context, until the plan is really done"
	root.Long = root.Short + ".\n\nWithout a verb: ralph run."
	root.Version = version()
	root.SetVersionTemplate("ralph {{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().StringVarP(&a.dir, "dir", "C", "", "the project `DIR` (default: the nearest folder upwards with .ralph/ or .ralphrc, else the git root, else here)")
	root.Args = unknownVerb
	root.PersistentPreRun = func(*cobra.Command, []string) { a.started = true }
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = false
	a.addResetFlags(root)
	once := a.runCommand("once")
	once.Short = "Make exactly one iteration"
	run := a.runCommand("run")
	run.Short = "Run the loop (the default verb)"
	root.AddCommand(run, once, a.statusCommand(), a.monitorCommand(), a.resetCommand(), a.initCommand(),
		a.configCommand(), a.doctorCommand(), a.demoCommand(), a.trustCommand(), a.versionCommand(), a.agentCommand(), a.drillCommand(), a.checkCommand(), a.serviceCommand())
	root.AddCommand(a.controlCommands()...)
	root.AddCommand(a.historyCommands()...)
	return root
}

// unknownVerb names the verbs that a mistyped one may have meant.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean: " + strings.Join(near, ", ") + "?"
	}
	return usageError("unknown command %q for %q%s; see: %s --help", args[0], cmd.Name(), hint, cmd.Name())
}

// takes says in one line what a verb takes, and how it is written.
func takes(what string, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return usageError("%s takes %s: %s %s", cmd.Name(), what, cmd.Parent().CommandPath(), cmd.Use)
	}
}

// flagError names the flag and what it takes, in one line.
func flagError(cmd *cobra.Command, err error) error {
	if said := (*exitError)(nil); errors.As(err, &said) {
		return said
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		long := strings.TrimPrefix(name, "--")
		if i := strings.Index(name, " in "); i > 0 { // 'c' in -c
			if f := cmd.Flags().ShorthandLookup(strings.Trim(name[:i], "'")); f != nil {
				long = f.Name
			}
		}
		if o, ok := optionByFlag(long); ok {
			return usageError("--%s needs a value: %s", long, o.Allowed())
		}
	}
	return usageError("%s; see: %s --help", text, cmd.CommandPath())
}

func optionByFlag(name string) (config.Option, bool) {
	for _, o := range config.Table() {
		if o.Flag == name {
			return o, true
		}
	}
	return config.Option{}, false
}

// project is the folder that the verb works on.
func (a *app) project() (string, error) {
	if a.dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find project: %w", err)
		}
		return config.FindProject(here), nil
	}
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", fmt.Errorf("find project: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usageError("--dir %q is not a folder", a.dir)
	}
	return dir, nil
}

// reader opens the state of the project.
func (a *app) reader() (*state.Reader, string, error) {
	dir, err := a.project()
	if err != nil {
		return nil, "", err
	}
	return state.Open(filepath.Join(dir, state.DirName)), dir, nil
}

// say prints a line. Much of what is said stands in files that an agent can write.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.out, inert(fmt.Sprintf(format, args...)))
}

// warn tells of what is wrong and in the way of nothing.
func (a *app) warn(what any) { fmt.Fprintln(a.err, "ralph: warning:", inert(fmt.Sprint(what))) }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { a.say("ralph %s", version()); return nil },
	}
}

func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	rev := ""
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			rev = " (" + s.Value[:12] + ")"
		}
	}
	return strings.Trim(info.Main.Version, "()") + rev
}
