package cli

import (
	"slices"

	"github.com/spf13/cobra"

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
	return []verbs{
		one(cmdline.GroupRun, "run", run("run")), one(cmdline.GroupRun, "once", run("once")),
		one(cmdline.GroupRun, "demo", newDemoCmd), one(cmdline.GroupRun, "resume", newResumeCmd),
		{cmdline.GroupRun, []string{"pause", "skip", "stop", "abort"}, newControlCmds},
		one(cmdline.GroupRun, "accept", newAcceptCmd), one(cmdline.GroupRun, "answer", newAnswerCmd),
		one(cmdline.GroupRun, "note", newNoteCmd),

		one(cmdline.GroupLook, "status", newStatusCmd),
		one(cmdline.GroupLook, "monitor", newMonitorCmd),
		one(cmdline.GroupLook, "top", newTopCmd), one(cmdline.GroupLook, "serve", newServeCmd),
		one(cmdline.GroupLook, "mcp", newMCPCmd),
		one(cmdline.GroupLook, "iterations", newIterationsCmd),
		one(cmdline.GroupLook, "diff", newDiffCmd),
		one(cmdline.GroupLook, "report", newReportCmd),
		one(cmdline.GroupLook, "runs", newRunsCmd, "sessions"),
		one(cmdline.GroupLook, "questions", newQuestionsCmd),
		one(cmdline.GroupLook, "check", newCheckCmd),
		one(cmdline.GroupLook, "learn", newLearnCmd),

		one(cmdline.GroupPlan, "task", newTaskCmd), one(cmdline.GroupPlan, "import", newImportCmd),

		one(cmdline.GroupGoBack, "undo", newUndoCmd),
		one(cmdline.GroupGoBack, "reset", newResetCmd),

		one(cmdline.GroupSetUp, "init", newInitCmd), one(cmdline.GroupSetUp, "config", newConfigCmd),
		one(cmdline.GroupSetUp, "trust", newTrustCmd),
		one(cmdline.GroupSetUp, "doctor", newDoctorCmd),
		one(cmdline.GroupSetUp, "notify", newNotifyCmd),
		one(cmdline.GroupSetUp, "drill", newDrillCmd),
		one(cmdline.GroupSetUp, "sandbox", newSandboxCmd),
		one(cmdline.GroupSetUp, "agent", newAgentCmd),
		one(cmdline.GroupSetUp, "version", newVersionCmd),
		one(cmdline.GroupSetUp, "worker", newWorkerCmd),

		one("", "turn", newTurnCmd), one("", "hook", newHookCmd),
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
