package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/sandbox/gitkeep"
)

// newRootCmd returns ralph with its verbs. started becomes true when a verb runs: an error before that is a mistake in
// the command line.
func newRootCmd(f *cmdline.Factory) (root *cobra.Command, started *bool) {
	started = new(bool)
	root = newRunCmd(f, rootName)
	addCompatFlags(root, f)
	root.Short = "Run an AI coding agent again and again, with fresh context, until the plan is done"
	root.Long = root.Short +
		".\n\nralph without a verb is ralph run, and takes the same flags. ralph 50 makes at most 50 iterations.\n\n" +
		ownAgent
	root.Example = "  ralph init                      # set up a project\n" +
		"  ralph --monitor                 # run, and watch it in tmux\n" +
		"  ralph --max-iterations 5\n" +
		"  ralph status"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().BoolP("help", "h", false, "Show the help of a verb.")
	root.PersistentFlags().StringVarP(&f.Dir, "dir", "C", f.Dir,
		"Work in `DIR` (default: the nearest folder with .ralph/ or .ralphrc, from here upwards, else the git root, "+
			"else here).")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		*started = true
		putBack(f)
	}
	root.SetFlagErrorFunc(cmdline.FlagError)
	addVerbs(root, f)
	showOwnFlags(root)
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

// newHelpCmd returns ralph help. Unlike cobra's, it fails for what is not a verb.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [VERB]", Short: "Show the help of a verb", PersistentPreRun: func(*cobra.Command, []string) {},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) == 0:
				return cmd.Help()
			case cmd != root && cmd.HasSubCommands():
				return cmdline.Parent(cmd, rest)
			}
			return cmd.ValidateArgs(rest)
		},
	}
}

// showOwnFlags keeps flags out of a verb's help that it accepts but that belong
// to ralph run. The shell still completes them.
func showOwnFlags(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmdline.HideOptions(cmd)
		if cmd == root {
			if root.ValidateArgs(root.Flags().Args()) != nil {
				return // help for what is not a verb
			}
			hideRunFlags(root)
		}
		help(cmd, args)
	})
}

func hideRunFlags(root *cobra.Command) {
	root.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = flag.Name != "help" && flag.Name != "version"
	})
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
	cmd.SuggestionsMinimumDistance = 2
	return cmdline.UnknownCommand(cmd, args[0], "see: "+cmd.Name()+" --help")
}

// Root returns ralph with all its verbs, for those who write about them.
func Root() *cobra.Command {
	root, _ := newRootCmd(cmdline.New())
	hideRunFlags(root)
	return root
}
