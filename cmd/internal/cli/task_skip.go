package cli

import (
	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/task"
	"ralph/runner/task/store"
)

func newSkipCmd(f *cmdline.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "skip ID...", Short: "Move tasks to the end of the plan",
		Args: cmdline.Takes("the ids of tasks", cobra.MinimumNArgs(1)),
		Long: "Move tasks to the end of the plan. " +
			"To end what an agent is doing right now, use ralph skip.",
		Example:           "  ralph task skip T7",
		ValidArgsFunction: taskComplete(f, task.Task.Pending),
		RunE:              func(_ *cobra.Command, args []string) error { return skipRun(f, args) },
	}
}

func skipRun(f *cmdline.Factory, ids []string) error {
	return taskEach(f, ids, func(p *plan, t task.Task) error { return p.move(t, store.Last, task.Task{}) })
}
