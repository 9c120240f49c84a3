package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cli/agentcmd"
	"ralph/cmd/internal/cli/historycmd"
	"ralph/cmd/internal/cli/hookcmd"
	"ralph/cmd/internal/cli/initcmd"
	"ralph/cmd/internal/cli/learncmd"
	"ralph/cmd/internal/cli/lookcmd"
	"ralph/cmd/internal/cli/servicecmd"
	"ralph/cmd/internal/cli/setupcmd"
	"ralph/cmd/internal/cli/taskcmd"
	"ralph/cmd/internal/cli/touchcmd"
	"ralph/cmd/internal/cli/versioncmd"
	"ralph/cmd/internal/cmdline"
)

// verbs are commands that one function makes.
type verbs struct {
	group string   // empty: help does not list them
	names []string // with their aliases
	make  func(*cmdline.Factory) []*cobra.Command
}

// one is a row with one verb.
func one(group, name string, make func(*cmdline.Factory) *cobra.Command, aliases ...string) verbs {
	return verbs{group, append(aliases, name), func(f *cmdline.Factory) []*cobra.Command {
		return []*cobra.Command{make(f)}
	}}
}

// table has all verbs. By their names, ralph makes only the verb that is called: to make all of
// them takes longer than many verbs run.
func table() []verbs {
	run := func(name string) func(*cmdline.Factory) *cobra.Command {
		return func(f *cmdline.Factory) *cobra.Command { return newRunCmd(f, name) }
	}
	initialise := func(f *cmdline.Factory) *cobra.Command {
		made := new([]string)
		return taskcmd.WithPlan(f, initcmd.NewInitCmd(f, made), made)
	}
	return []verbs{
		one(cmdline.GroupRun, "run", run("run")), one(cmdline.GroupRun, "once", run("once")),
		one(cmdline.GroupRun, "demo", newDemoCmd), one(cmdline.GroupRun, "resume", newResumeCmd),
		{cmdline.GroupRun, []string{"pause", "skip", "stop", "abort"}, newControlCmds},
		one(cmdline.GroupRun, "accept", newAcceptCmd), one(cmdline.GroupRun, "answer", touchcmd.NewAnswerCmd),
		one(cmdline.GroupRun, "note", touchcmd.NewNoteCmd),

		one(cmdline.GroupLook, "status", lookcmd.NewStatusCmd),
		one(cmdline.GroupLook, "monitor", lookcmd.NewMonitorCmd),
		one(cmdline.GroupLook, "top", lookcmd.NewTopCmd), one(cmdline.GroupLook, "serve", touchcmd.NewServeCmd),
		one(cmdline.GroupLook, "mcp", touchcmd.NewMCPCmd),
		one(cmdline.GroupLook, "iterations", historycmd.NewIterationsCmd),
		one(cmdline.GroupLook, "diff", historycmd.NewDiffCmd),
		one(cmdline.GroupLook, "report", historycmd.NewReportCmd),
		one(cmdline.GroupLook, "runs", historycmd.NewRunsCmd, "sessions"),
		one(cmdline.GroupLook, "questions", touchcmd.NewQuestionsCmd),
		one(cmdline.GroupLook, "check", setupcmd.NewCheckCmd),
		one(cmdline.GroupLook, "learn", learncmd.NewLearnCmd),

		one(cmdline.GroupPlan, "task", taskcmd.NewTaskCmd), one(cmdline.GroupPlan, "import", taskcmd.NewImportCmd),

		one(cmdline.GroupGoBack, "undo", historycmd.NewUndoCmd),
		one(cmdline.GroupGoBack, "bisect", historycmd.NewBisectCmd),
		one(cmdline.GroupGoBack, "reset", newResetCmd),

		one(cmdline.GroupSetUp, "init", initialise), one(cmdline.GroupSetUp, "config", setupcmd.NewConfigCmd),
		one(cmdline.GroupSetUp, "trust", setupcmd.NewTrustCmd),
		one(cmdline.GroupSetUp, "doctor", setupcmd.NewDoctorCmd),
		one(cmdline.GroupSetUp, "notify", touchcmd.NewNotifyCmd),
		one(cmdline.GroupSetUp, "drill", setupcmd.NewDrillCmd),
		one(cmdline.GroupSetUp, "hooks", hookcmd.NewHooksCmd),
		one(cmdline.GroupSetUp, "sandbox", setupcmd.NewSandboxCmd),
		one(cmdline.GroupSetUp, "agent", agentcmd.NewAgentCmd),
		one(cmdline.GroupSetUp, "service", servicecmd.NewServiceCmd),
		one(cmdline.GroupSetUp, "version", versioncmd.NewVersionCmd),
		one(cmdline.GroupSetUp, "worker", touchcmd.NewWorkerCmd),

		one("", "turn", newTurnCmd), one("", "hook", hookcmd.NewHookCmd),
	}
}

// called reports whether the words of the command line may mean a verb of the row. Some words
// need all verbs.
func (v verbs) called(words []string) bool {
	return cmdline.Completes(words) || slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(v.names, word) || word == "help" || word == "completion"
	})
}

// isVerb reports whether ralph has a verb of this name.
func isVerb(name string) bool {
	return slices.ContainsFunc(table(), func(v verbs) bool { return slices.Contains(v.names, name) })
}

// addVerbs adds the verbs that may be called, and returns how to add the others.
func addVerbs(root *cobra.Command, f *cmdline.Factory) (rest func()) {
	for _, g := range []cobra.Group{
		{ID: cmdline.GroupRun, Title: "Run:"}, {ID: cmdline.GroupLook, Title: "Look:"},
		{ID: cmdline.GroupPlan, Title: "Plan:"},
		{ID: cmdline.GroupGoBack, Title: "Go back:"}, {ID: cmdline.GroupSetUp, Title: "Set up:"},
	} {
		root.AddGroup(&g)
	}
	root.SetHelpCommandGroupID(cmdline.GroupSetUp)
	root.SetCompletionCommandGroupID(cmdline.GroupSetUp)
	add := func(called bool) {
		for _, row := range table() {
			if row.called(f.Words) == called {
				for _, cmd := range row.make(f) {
					cmd.GroupID = row.group
					root.AddCommand(cmd)
				}
			}
		}
	}
	add(true)
	return func() { add(false) }
}
