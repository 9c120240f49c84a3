package taskcmd

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

func newListCmd(f *cmdline.Factory) *cobra.Command {
	o, asJSON := &filter{}, false
	cmd := &cobra.Command{
		Use: "list", Short: "List the tasks of the plan", Args: cmdline.NoArgs,
		Long:    "List the tasks of the plan: ○ open, ▸ active, ⏸ to review, ⊘ blocked, ✓ done, ✗ dropped.",
		Example: "  ralph task list\n  ralph task list --state open --json",
		RunE: func(*cobra.Command, []string) error {
			p, err := open(f)
			if err != nil {
				return err
			}
			tasks, err := o.of(p.Tasks)
			if err != nil {
				return err
			}
			if asJSON {
				return cmdline.NewEncoder(f.Out).Encode(p.rows(tasks))
			}
			for i, r := range p.rows(tasks) {
				f.Say("%s", p.line(tasks[i], r.Why))
			}
			next := ""
			if t, ok := p.next(); ok {
				next = ", next: " + cmdline.Shorten(t.Title)
			}
			f.Say("%d of %s done%s", p.Done(), termtext.Count(p.Total(), "task"), next)
			p.warn()
			return nil
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON for programs.")
	return cmd
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

func newNextCmd(f *cmdline.Factory) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "next", Short: "Show the task that comes next", Args: cmdline.NoArgs, Example: "  ralph task next",
		RunE: func(*cobra.Command, []string) error {
			p, err := open(f)
			if err != nil {
				return err
			}
			t, ok := p.next()
			switch {
			case asJSON && !ok:
				return cmdline.NewEncoder(f.Out).Encode(nil)
			case asJSON:
				return cmdline.NewEncoder(f.Out).Encode(p.rows([]task.Task{t})[0])
			case ok:
				f.Say("%s", p.line(t, ""))
			case p.Remaining() > 0:
				f.Say("none: each open task was put aside, or waits for a person or for another; see: ralph task list")
			default:
				f.Say("none: nothing is open")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON for programs.")
	return cmd
}

func newShowCmd(f *cmdline.Factory) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a task with its criteria",
		Args:    cmdline.Takes("the id of a task", cobra.ExactArgs(1)),
		Example: "  ralph task show T7", ValidArgsFunction: cmdline.FirstArg(complete(f, all)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, t, err := openTask(f, args[0])
			if err != nil {
				return err
			}
			r := p.rows([]task.Task{t})[0]
			if asJSON {
				return cmdline.NewEncoder(f.Out).Encode(r)
			}
			p.show(t, r)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON for programs.")
	return cmd
}

// show prints what there is to say about a task.
func (p *plan) show(t task.Task, r row) {
	p.Say("%s", p.line(t, ""))
	for _, field := range []struct{ name, value string }{
		{"id", t.ID}, {"category", t.Category}, {"tags", strings.Join(t.Tags, ", ")},
		{"depends on", strings.Join(t.DependsOn, ", ")},
		{"section", t.Section}, {"judges", strings.Join(t.Judges, ", ")}, {"file", t.File},
		{"agent", strings.TrimSpace(r.Agent + " " + r.Model)},
	} {
		if field.value != "" {
			p.Say("%-11s %s", field.name, field.value)
		}
	}
	if r.Why != "" {
		p.Say("%-11s %s", "why", r.Why)
	}
	if r.Attempts > 0 {
		p.Say("%-11s %d", "attempts", r.Attempts)
	}
	if t.Description != "" {
		p.Say("\n%s", t.Description)
	}
	for i, c := range t.Criteria {
		if i == 0 {
			p.Say("\nIt is done when:")
		}
		p.Say("- %s", strings.ReplaceAll(c, "\n", "\n  "))
	}
	if t.Notes != "" {
		p.Say("\n%s", t.Notes)
	}
}
