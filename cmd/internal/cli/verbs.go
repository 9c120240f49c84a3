package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// verbRow is a verb by its names, and how to make it.
type verbRow struct {
	names string
	make  func(*cmdline.Factory) *cobra.Command
}

// verbGroup is a group of verbs in the help text.
type verbGroup struct {
	title string // empty: help does not list them
	verbs []verbRow
}

const setUp = "Set up:"

// table has all verbs.
func table() []verbGroup {
	run := func(name string) func(*cmdline.Factory) *cobra.Command {
		return func(f *cmdline.Factory) *cobra.Command { return newRunCmd(f, name) }
	}
	return []verbGroup{
		{"Run:", []verbRow{
			{"run", run("run")}, {"once", run("once")}, {"demo", newDemoCmd}, {"resume", newResumeCmd},
			{"pause", control(state.RequestPause, "Pause the run after its current iteration",
				"It waits for ralph resume, and keeps its place; to end the run, use ralph stop.")},
			{"skip", control(state.RequestSkip, "End the current iteration and put its task last",
				"For a task that no agent works on now, use ralph task skip.")},
			{"stop", control(state.RequestStop, "End the run after its current iteration (exit code 130)",
				"Its work counts; if you cannot wait for that, use ralph abort. ralph resume continues the run later.")},
			{"abort", control(state.RequestAbort, "End the run and its agent now (exit code 130)",
				"What the agent was doing is cut off; to let it finish first, use ralph stop.")},
			{"accept", newAcceptCmd}, {"answer", newAnswerCmd}, {"note", newNoteCmd},
		}},
		{"Look:", []verbRow{
			{"status", newStatusCmd}, {"monitor", newMonitorCmd}, {"top", newTopCmd}, {"serve", newServeCmd},
			{"mcp", newMCPCmd}, {"iterations", newIterationsCmd}, {"diff", newDiffCmd}, {"report", newReportCmd},
			{"runs sessions", newRunsCmd}, {"questions", newQuestionsCmd}, {"check", newCheckCmd}, {"verify", newVerifyCmd},
			{"learn", newLearnCmd},
		}},
		{"Plan:", []verbRow{{"task", newTaskCmd}, {"import", newImportCmd}}},
		{"Go back:", []verbRow{{"undo", newUndoCmd}, {"reset", newResetCmd}}},
		{setUp, []verbRow{
			{"init", newInitCmd}, {"config", newConfigCmd}, {"trust", newTrustCmd}, {"doctor", newDoctorCmd},
			{"notify", newNotifyCmd}, {"drill", newDrillCmd}, {"agent", newAgentCmd},
			{"version", newVersionCmd}, {"worker", newWorkerCmd},
		}},
		{"", []verbRow{{"turn", newTurnCmd}, {"hook", newHookCmd}}},
	}
}

// withJSON gives a verb that runs with its arguments the flag --json.
func withJSON(cmd *cobra.Command, help string, run func(args []string, asJSON bool) error) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, help)
	cmd.RunE = func(_ *cobra.Command, args []string) error { return run(args, *asJSON) }
	return cmd
}

// forPrograms is the help of --json where one value is printed.
const forPrograms = "Print JSON for programs."

// firstVerbs are those of a first night, which help shows without being asked for more.
func firstVerbs() []string {
	return []string{"init", "doctor", "run", "status", "report", "diff", "undo", "answer"}
}

// verbOf is the verb that a command line begins with; empty: none, or an option comes before it.
func verbOf(args []string) string {
	for _, group := range table() {
		for _, v := range group.verbs {
			if len(args) > 0 && slices.Contains(strings.Fields(v.names), args[0]) {
				return v.names
			}
		}
	}
	return ""
}

// addVerbs adds the verb that is called, or all if that is not known: to make all of them takes longer than many run.
func addVerbs(root *cobra.Command, f *cmdline.Factory) {
	for _, group := range table() {
		if group.title != "" {
			root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		}
		for _, v := range group.verbs {
			if f.Verb == "" || f.Verb == v.names {
				cmd := v.make(f)
				cmd.GroupID = group.title
				root.AddCommand(cmd)
			}
		}
	}
}
