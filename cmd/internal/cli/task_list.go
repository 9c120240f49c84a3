package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/preflight"
	"ralph/logs/termtext"
	"ralph/runner/task"
)

type taskListOptions struct {
	*cmdline.Factory
	filter
	json bool
}

func newTaskListCmd(f *cmdline.Factory) *cobra.Command {
	o := &taskListOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "list", Short: "List the tasks of the plan", Args: cmdline.NoArgs,
		Long:    "List the tasks of the plan: ○ open, ▸ active, ⏸ to review, ⊘ blocked, ✓ done, ✗ dropped.",
		Example: "  ralph task list\n  ralph task list --state open --json",
		RunE:    func(*cobra.Command, []string) error { return taskListRun(o) },
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "Print JSON for programs.")
	return cmd
}

func taskListRun(o *taskListOptions) error {
	p, err := taskOpen(o.Factory)
	if err != nil {
		return err
	}
	tasks, err := o.of(p.Tasks)
	if err != nil {
		return err
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

// filter selects tasks.
type filter struct{ category, priority, tag, state string }

func (o *filter) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.category, "category", "", "Only tasks of this `CATEGORY`.")
	fs.StringVar(&o.priority, "priority", "", "Only tasks of this `PRIORITY`: a number, or high, medium, low.")
	fs.StringVar(&o.tag, "tag", "", "Only tasks with this `TAG`.")
	fs.StringVar(&o.state, "state", "", "Only tasks in this `STATE`: open, active, review, blocked, done or dropped.")
	for flag, values := range map[string][]string{"priority": {"high", "medium", "low"},
		"state": {"open", "active", "review", "blocked", "done", "dropped"}} {
		complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only for an unknown flag
	}
}

func (o *filter) of(tasks []task.Task) ([]task.Task, error) {
	priority, err := strconv.Atoi(o.priority)
	if err != nil {
		if priority = task.PriorityOf(o.priority); o.priority != "" && priority == task.NoPriority {
			return nil, cmdline.UsageError("--priority %q is neither a number nor high, medium or low", o.priority)
		}
	}
	var state task.State
	if err := state.UnmarshalText([]byte(o.state)); o.state != "" && err != nil {
		return nil, cmdline.UsageError("--state: %v", err)
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t task.Task) bool {
		return o.category != "" && !strings.EqualFold(o.category, t.Category) || o.priority != "" &&
			t.Priority != priority ||
			o.tag != "" && !slices.ContainsFunc(t.Tags,
				func(tag string) bool { return strings.EqualFold(tag, o.tag) }) ||
			o.state != "" && t.State != state
	}), nil
}
