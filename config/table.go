package config

import (
	"slices"

	"ralph/config/option"
	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/task"
)

// Options are the values of all options. Each part belongs to the package that reads it
// and declares its rows.
type Options struct {
	rules.Policy
	agent.CallOptions
	prompt.FileOptions
	task.PlanOptions
	gate.CheckOptions
	git.CommitOptions
	OutputOptions
}

// OutputOptions are the options about ralph's output.
type OutputOptions struct {
	Verbose bool
	Notify  bool
}

// groups are the headings of the documentation, in order.
func groups() []string {
	return []string{"Limits", "Agent", "Session", "Circuit breaker", "Prompt and plan", "Checks", "Environment", "Commits", "Output"}
}

// rows are all rows, bound to o, in the order of the documentation.
func (o *Options) rows() []option.Row {
	table := slices.Concat(o.Policy.Options(), o.CallOptions.Options(), o.FileOptions.Options(), o.PlanOptions.Options(),
		o.CheckOptions.Options(), o.CommitOptions.Options(), o.OutputOptions.Options())
	rank := func(r option.Row) int { return slices.Index(groups(), r.Group) }
	slices.SortStableFunc(table, func(a, b option.Row) int { return rank(a) - rank(b) })
	return table
}

// Table returns every option in the order of the documentation.
func Table() []option.Row { return new(Options).rows() }

// Options returns the rows of the option table that fill o.
func (o *OutputOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Output", Key: "RALPH_VERBOSE", Flag: "verbose", Short: "v", YAML: "output.verbose",
		Kind: option.Bool, Default: "false", Field: &o.Verbose,
		Help: "Say more about what the loop does.",
	}, {
		Group: "Output", Key: "ENABLE_NOTIFICATIONS", Flag: "notify", Short: "n", YAML: "output.notify",
		Kind: option.Bool, Default: "false", Field: &o.Notify,
		Help: "Show a desktop notification when the run ends or needs attention.",
	}}
}

// index maps each key and alias to its row.
func index(table []option.Row) map[string]option.Row {
	rows := make(map[string]option.Row, 2*len(table))
	for _, o := range table {
		rows[o.Key] = o
		for _, alias := range o.Aliases {
			rows[alias] = o
		}
	}
	return rows
}
