package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cli/agentcmd"
	"ralph/cmd/internal/cli/historycmd"
	"ralph/cmd/internal/cli/hookcmd"
	"ralph/cmd/internal/cli/learncmd"
	"ralph/cmd/internal/cli/servicecmd"
	"ralph/cmd/internal/cli/setupcmd"
	"ralph/cmd/internal/cli/taskcmd"
	"ralph/cmd/internal/cli/touchcmd"
	"ralph/cmd/internal/cmdline"
)

// app is the factory, as receiver of the verbs that show a run.
type app struct{ *cmdline.Factory }

// newRootCmd returns ralph with all verbs. started becomes true when a verb
// runs: what fails before is the command line.
func newRootCmd(f *cmdline.Factory) (root *cobra.Command, started *bool) {
	started = new(bool)
	root = newRunCmd(f, rootName)
	addCompatFlags(root, f)
	root.Short = "Run an AI coding agent again and again, with fresh context, until the plan is done"
	root.Long = root.Short + ".\n\nralph without a verb is ralph run, and takes the same flags. ralph 50 makes at most 50 iterations.\n\n" + ownAgent
	root.Example = "  ralph init                      # set a project up\n" +
		"  ralph --monitor                 # run, and watch it in tmux\n" +
		"  ralph --max-iterations 5\n" +
		"  ralph status"
	root.Version = version()
	root.SetVersionTemplate("ralph {{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().StringVarP(&f.Dir, "dir", "C", f.Dir,
		"work in `DIR` (default: the nearest folder upwards with .ralph/ or .ralphrc, else the git root, else here)")
	_ = root.MarkPersistentFlagDirname("dir") // fails only for an unknown flag
	root.PersistentPreRun = func(*cobra.Command, []string) { *started = true }
	root.SetFlagErrorFunc(cmdline.FlagError)
	addGroups(root, f)
	hideRunFlags(root)
	return root, started
}

func addGroups(root *cobra.Command, f *cmdline.Factory) {
	a := &app{f}
	for _, verb := range append(historycmd.NewCmds(f), a.statusCommand(), a.monitorCommand()) {
		group := cmdline.GroupLook
		if verb.Name() == "undo" || verb.Name() == "bisect" {
			group = cmdline.GroupGoBack
		}
		cmdline.AddVerbs(root, group, verb)
	}
	cmdline.AddVerbs(root, cmdline.GroupRun,
		newRunCmd(f, "run"), newRunCmd(f, "once"), newDemoCmd(f), newResumeCmd(f))
	cmdline.AddVerbs(root, cmdline.GroupRun, newControlCmds(f)...)
	cmdline.AddVerbs(root, cmdline.GroupRun, newAcceptCmd(f), touchcmd.NewAnswerCmd(f), touchcmd.NewNoteCmd(f))
	cmdline.AddVerbs(root, cmdline.GroupLook, touchcmd.NewQuestionsCmd(f))
	root.AddCommand(newTurnCmd(f), hookcmd.NewHookCmd(f))
	cmdline.AddVerbs(root, cmdline.GroupLook, setupcmd.NewCheckCmd(f), learncmd.NewLearnCmd(f))
	cmdline.AddVerbs(root, cmdline.GroupPlan, taskcmd.NewTaskCmd(f), taskcmd.NewImportCmd(f))
	cmdline.AddVerbs(root, cmdline.GroupGoBack, newResetCmd(f))
	cmdline.AddVerbs(root, cmdline.GroupSetUp, taskcmd.WithPlan(f, setupcmd.NewInitCmd(f)), setupcmd.NewConfigCmd(f), setupcmd.NewTrustCmd(f),
		setupcmd.NewDoctorCmd(f), touchcmd.NewNotifyCmd(f), setupcmd.NewDrillCmd(f), hookcmd.NewHooksCmd(f), setupcmd.NewSandboxCmd(f), agentcmd.NewAgentCmd(f), servicecmd.NewServiceCmd(f),
		newVersionCmd(f))
	for _, g := range []cobra.Group{
		{ID: cmdline.GroupRun, Title: "Run:"},
		{ID: cmdline.GroupLook, Title: "Look:"}, {ID: cmdline.GroupPlan, Title: "Plan:"},
		{ID: cmdline.GroupGoBack, Title: "Go back:"}, {ID: cmdline.GroupSetUp, Title: "Set up:"},
	} {
		if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.GroupID == g.ID }) {
			root.AddGroup(&g) // cobra would print the title of an empty one
		}
	}
	root.SetHelpCommandGroupID(cmdline.GroupSetUp)
	root.SetCompletionCommandGroupID(cmdline.GroupSetUp)
}

// hideRunFlags keeps flags out of a verb's help that it accepts but that belong
// to ralph run. The shell still completes them.
func hideRunFlags(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmdline.HideOptions(cmd)
		if cmd == root {
			cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
				flag.Hidden = flag.Name != "help" && flag.Name != "version"
			})
		}
		help(cmd, args)
	})
}

// unknownVerb names the verbs that a mistyped one may mean. ralph run has none.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if cmd.HasParent() {
		return cmdline.UsageError("%s takes only a number of iterations, but got %q; see: %[1]s --help", cmd.CommandPath(), args[0])
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

func newVersionCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cmdline.NoArgs, Example: "  ralph version",
		RunE: func(*cobra.Command, []string) error { f.Say("ralph %s", version()); return nil },
	}
}
