package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cli/agentcmd"
	"ralph/cmd/internal/cli/servicecmd"
	"ralph/cmd/internal/cli/setupcmd"
	"ralph/cmd/internal/cmdline"
)

// app is the receiver of the verbs.
type app struct{ *cmdline.Factory }

// newRootCmd returns ralph with all verbs. started becomes true when a verb runs:
// an error before that is an error of the command line.
func newRootCmd(f *cmdline.Factory) (root *cobra.Command, started *bool) {
	a := &app{f}
	started = new(bool)
	root = a.runCommand("ralph")
	a.addCompatFlags(root)
	root.Short = "Run an AI coding agent again and again, with fresh context, until the plan is done"
	root.Long = root.Short + ".\n\nWithout a command, ralph does the same as ralph run and takes the same flags."
	root.Example = "  ralph init                      # set up a project\n" +
		"  ralph --monitor                 # run, and watch it in tmux\n" +
		"  ralph --max-iterations 5\n" +
		"  ralph status"
	root.Version = version()
	root.SetVersionTemplate("ralph {{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().StringVarP(&f.Dir, "dir", "C", f.Dir,
		"work in `DIR` (default: the nearest folder upwards with .ralph/ or .ralphrc, else the git root, else here)")
	_ = root.MarkPersistentFlagDirname("dir") // fails only for an unknown flag
	root.Args = unknownVerb
	root.PersistentPreRun = func(*cobra.Command, []string) { *started = true }
	root.SetFlagErrorFunc(cmdline.FlagError)
	a.addVerbs(root)
	hideRunFlags(root)
	return root, started
}

// addCompatFlags adds verbs that existing scripts use as flags. They take
// precedence over the run that the root command would start.
func (a *app) addCompatFlags(root *cobra.Command) {
	var status, circuitStatus bool
	var reset resetOptions
	root.Flags().BoolVarP(&status, "status", "s", false, "same as: ralph status")
	root.Flags().BoolVar(&reset.circuit, "reset-circuit", false, "same as: ralph reset --circuit")
	root.Flags().BoolVar(&reset.session, "reset-session", false, "same as: ralph reset --session")
	root.Flags().BoolVar(&circuitStatus, "circuit-status", false, "show the circuit breaker")
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case status:
			return a.statusCommand().RunE(cmd, args)
		case reset.circuit || reset.session:
			return a.reset(reset)
		case circuitStatus:
			return a.circuitStatus()
		}
		return run(cmd, args)
	}
}

func (a *app) addVerbs(root *cobra.Command) {
	f, past := a.Factory, a.historyCommands()
	for _, group := range []struct {
		id, title string
		verbs     []*cobra.Command
	}{
		{"run", "Run:", append([]*cobra.Command{a.runCommand("run"), a.runCommand("once"), a.demoCommand(), a.resumeCommand()},
			a.controlCommands()...)},
		{"look", "Look:", append(past[:2:2], a.statusCommand(), a.monitorCommand(), setupcmd.NewCheckCmd(f))},
		{"go back", "Go back:", append(past[2:], a.resetCommand())},
		{"set up", "Set up:", []*cobra.Command{setupcmd.NewInitCmd(f), setupcmd.NewConfigCmd(f), setupcmd.NewTrustCmd(f),
			setupcmd.NewDoctorCmd(f), setupcmd.NewDrillCmd(f), agentcmd.NewAgentCmd(f), servicecmd.NewServiceCmd(f), a.versionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, verb := range group.verbs {
			verb.GroupID = group.id
		}
		root.AddCommand(group.verbs...)
	}
	root.AddCommand(a.turnCommand())
	root.SetHelpCommandGroupID("set up")
	root.SetCompletionCommandGroupID("set up")
}

// hideRunFlags keeps the flags of ralph run out of the help of verbs that merely
// accept them. The shell still completes them.
func hideRunFlags(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmdline.HideOptions(cmd)
		if cmd == root {
			cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
				flag.Hidden = !slices.Contains([]string{"help", "version"}, flag.Name)
			})
		}
		help(cmd, args)
	})
}

// unknownVerb suggests verbs for one that does not exist.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if ours, ok := cmdline.ForeignVerbs()[args[0]]; ok {
		return cmdline.UsageError("%q is a command of another ralph; use: %s", args[0], ours)
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return cmdline.UsageError("unknown command %q for %q; did you mean %s?",
			args[0], cmd.Name(), strings.Join(near, " or "))
	}
	return cmdline.UsageError("unknown command %q for %q; see: %[2]s --help", args[0], cmd.Name())
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cmdline.NoArgs, Example: "  ralph version",
		RunE: func(*cobra.Command, []string) error { a.Say("ralph %s", version()); return nil },
	}
}
