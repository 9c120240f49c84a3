package cli

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/runner/git/history"
)

// kept are the kept states of the project, oldest first.
func kept(f *cmdline.Factory, cmd *cobra.Command) []history.Kept {
	dir, err := f.Project()
	if err != nil {
		return nil
	}
	all, err := history.List(cmd.Context(), dir, "")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(k history.Kept) bool { return k.Start || k.Undone })
}

// completeRuns completes the ids of runs, the latest first: those with a report, and
// those of which git keeps states.
func completeRuns(f *cmdline.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if r, _, err := f.Reader(); err == nil {
			ids, _ = r.Recorded()
		}
		for _, k := range kept(f, cmd) {
			ids = append(ids, k.Run)
		}
		slices.Sort(ids) // they begin with the time
		ids = slices.Compact(ids)
		slices.Reverse(ids)
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeIterations completes the iterations of the run, the latest first, and then its tasks.
func completeIterations(f *cmdline.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		all := kept(f, cmd)
		run, _ := cmd.Flags().GetString("run")
		if run == "" && len(all) > 0 {
			run = all[len(all)-1].Run
		}
		var numbers, tasks []string
		for _, k := range slices.Backward(all) {
			if k.Run == run {
				if clean := termtext.Line(k.Task); k.Task != "" && k.Task == clean &&
					!slices.Contains(tasks, k.Task) {
					tasks = append(tasks, k.Task)
				}
				task := cmdline.Shorten(k.Task)
				numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(k.Iteration), task))
			}
		}
		return append(numbers, tasks...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeValues completes the value of a flag that takes one of these.
func completeValues(cmd *cobra.Command, flag string, values []string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for an unknown flag
}
