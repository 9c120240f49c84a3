package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/task"
)

type taskListOptions struct {
	*cmdline.Factory
	state string // empty: any
	json  bool
}

func newTaskListCmd(f *cmdline.Factory) *cobra.Command {
	o, states := &taskListOptions{Factory: f}, []string{"open", "active", "review", "blocked", "done", "dropped"}
	cmd := &cobra.Command{
		Use: "list", Short: "List the tasks of the plan", Args: cmdline.NoArgs,
		Long:    "List the tasks of the plan: ○ open, ▸ active, ⏸ to review, ⊘ blocked, ✓ done, ✗ dropped.",
		Example: "  ralph task list\n  ralph task list --state open --json",
		RunE:    func(*cobra.Command, []string) error { return taskListRun(o) },
	}
	cmd.Flags().StringVar(&o.state, "state", "", "Only tasks in this `STATE`: "+strings.Join(states, ", ")+".")
	cmdline.CompleteValues(cmd, "state", states)
	cmd.Flags().BoolVar(&o.json, "json", false, "Print JSON for programs.")
	return cmd
}

func taskListRun(o *taskListOptions) error {
	p, err := taskOpen(o.Factory)
	if err != nil {
		return err
	}
	tasks := slices.Clone(p.Tasks)
	if o.state != "" {
		var only task.State
		if err := only.UnmarshalText([]byte(o.state)); err != nil {
			return cmdline.UsageError("--state: %v", err)
		}
		tasks = slices.DeleteFunc(tasks, func(t task.Task) bool { return t.State != only })
	}
	if o.json {
		return cmdline.NewEncoder(o.Out).Encode(p.rows(tasks))
	}
	for i, r := range p.rows(tasks) {
		o.Say("%s", p.line(tasks[i], r.Why))
	}
	next := ""
	if t, ok := p.next(); ok {
		next = ", next: " + cmdline.Shorten(t.Title)
	}
	o.Say("%d of %s done%s", p.Done(), termtext.Count(p.Total(), "task"), next)
	p.warn()
	return nil
}

// warn says what a run would say about the plan.
func (p *plan) warn() {
	lines := append(p.List.OddBoxes(), p.Warnings...)
	if problem := preflight.Problem(p.project.Dir, p.List); problem != "" {
		lines = []string{problem}
	}
	for _, line := range lines {
		p.Warn(line)
	}
}
