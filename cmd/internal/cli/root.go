// Package cli has the table of ralph's verbs, and a file for each. It turns errors into exit codes.
package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/console"
	"ralph/cmd/internal/demo"
	"ralph/runner/sandbox/gitkeep"
	"ralph/state"
)

// newRootCmd returns ralph with its verbs. started becomes true when a verb runs: an error before that is a mistake in
// the command line.
func newRootCmd(f *cmdline.Factory) (root *cobra.Command, started *bool) {
	started = new(bool)
	root = newRunCmd(f, rootName)
	addCompatFlags(root, f)
	root.Short = "Run an AI coding agent, each time with fresh context, until the plan is done"
	root.Long = root.Short + ".\n\nralph without a verb is ralph run, and takes the same flags. ralph 50 makes at most 50 iterations."
	root.Example = "  ralph init                      # set up a project\n" +
		"  ralph --monitor                 # run, and watch it in tmux\n" +
		"  ralph --max-iterations 5\n" +
		"  ralph status"
	root.SilenceErrors, root.SilenceUsage = true, true
	addHelp(root, f)
	root.PersistentFlags().StringVarP(&f.Dir, "dir", "C", f.Dir,
		"Work in `DIR` (default: the nearest folder with .ralph/ or .ralphrc, from here upwards, else the git root, "+
			"else here).")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		*started = true
		putBack(f)
	}
	addVerbs(root, f)
	if f.Verb == "" {
		root.SetHelpCommand(newHelpCmd(root))
		root.SetHelpCommandGroupID(setUp)
		root.InitDefaultHelpCmd()
		addCompletion(root)
	}
	return root, started
}

// putBack puts back what contained programs changed of what git starts, if their ralph was killed.
func putBack(f *cmdline.Factory) {
	dir, err := f.Project()
	records := f.Loader(dir, nil).GitRecords()
	if err != nil || records == "" || f.Inside(dir) != "" {
		return // the verb says what is wrong; inside of a call, a living ralph does it
	}
	if err := gitkeep.Recover(records, dir, func(r gitkeep.Replaced) { f.Warn(r) }); err != nil {
		f.Warn(err)
	}
}

// addCompletion adds the verb completion, which refuses what is not a shell. Cobra shows its help instead.
func addCompletion(root *cobra.Command) {
	root.SetCompletionCommandGroupID(setUp)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = nil, cmdline.Parent
		}
	}
}

// unknownVerb names the verbs that a mistyped one may mean. Arguments of ralph run are not verbs.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if cmd.HasParent() {
		return cmdline.UsageError("%s takes only a number of iterations, but got %q; see: %[1]s --help",
			cmd.CommandPath(), args[0])
	}
	if ours, ok := cmdline.ForeignVerbs()[args[0]]; ok {
		return cmdline.UsageError("%q is a command of another ralph; use: %s", args[0], ours)
	}
	return cmdline.UnknownCommand(cmd, args[0], "see: "+cmd.Name()+" --help")
}

// Root returns ralph with all its verbs, for those who write about them.
func Root() *cobra.Command {
	root, _ := newRootCmd(cmdline.New())
	hideRunFlags(root)
	return root
}

// rootName is the name of the command that has the verbs.
const rootName = "ralph"

// calledAs returns the name by which ralph was called, and its command line. For ralph-status
// and ralph-monitor, that begins with the verb. Any other name counts as ralph.
func calledAs(argv []string) (program string, args []string) {
	if len(argv) == 0 {
		return rootName, nil
	}
	name, args := filepath.Base(argv[0]), argv[1:]
	if slices.Contains(cmdline.Links(), name) {
		return name, append([]string{strings.TrimPrefix(name, rootName+"-")}, args...)
	}
	return rootName, args
}

// Main runs one command line, with the program's name before it, and returns the exit code.
func Main(argv []string) int {
	program, args := calledAs(argv)
	tellOuter, watched := console.Reporter()
	f := cmdline.New()
	f.Program, f.Watched = program, watched
	if len(args) > 0 && args[0] == demoAgentVerb {
		return demo.Agent(args[1:], f.In, f.Out, f.Err)
	}
	text, code := execute(f, args)
	if text != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", program, text)
		tellOuter(text)
	}
	return code
}

// execute runs one command line. It returns an error as one line, empty if the
// verb has printed everything itself, and the exit code.
func execute(f *cmdline.Factory, args []string) (text string, code int) {
	if slices.Equal(args, []string{"--version"}) { // without making the other verbs
		args = []string{"version"}
	}
	own := *f
	own.Verb = verbOf(args)
	root, started := newRootCmd(&own)
	root.SetArgs(cmdline.Texts(cmdline.Join(args)))
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if wrong := root.ParseFlags(args); own.Verb == "" && wrong != nil { // cobra may have taken the value of a later flag for the verb
			cmd, err = root, wrong
		}
		return cmdline.FlagError(cmd, err)
	})
	err := root.Execute()
	if err == nil && !*started { // of ralph NAME --help
		err = root.ValidateArgs(root.Flags().Args())
	}
	if err == nil {
		return "", state.ExitComplete
	}
	if code = cmdline.ExitCode(err); !*started { // the command line itself is wrong
		code = state.ExitUsage
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }) // of joined errors
	text = cmdline.Inert(strings.Join(slices.CompactFunc(lines, cmdline.SameTrouble), "; "))
	if text != "" && cmdline.WantsJSON(args) {
		cmdline.WriteStartError(f.Out, text, code)
	}
	return text, code
}

// addCompatFlags adds verbs that existing tools have as flags. They win over
// the run that the root command would start.
func addCompatFlags(root *cobra.Command, f *cmdline.Factory) {
	var status, circuitStatus, showVersion bool
	reset := &resetOptions{Factory: f}
	root.Flags().BoolVarP(&status, "status", "s", false, "Same as: ralph status.")
	root.Flags().BoolVar(&reset.circuit, "reset-circuit", false, "Same as: ralph reset --circuit.")
	root.Flags().BoolVar(&reset.session, "reset-session", false, "Same as: ralph reset --session.")
	root.Flags().BoolVar(&circuitStatus, "circuit-status", false, "Show the circuit breaker.")
	root.Flags().BoolVar(&showVersion, "version", false, "Print the version.")
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case showVersion:
			return newVersionCmd(f).RunE(cmd, args)
		case status:
			return newStatusCmd(f).RunE(cmd, args)
		case reset.circuit || reset.session:
			return resetRun(reset)
		case circuitStatus:
			return circuitStatusRun(f)
		}
		return run(cmd, args)
	}
}
