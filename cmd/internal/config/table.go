package config

import (
	"slices"
	"sort"
	"sync"

	"ralph/runner/agent"
	"ralph/runner/agenthooks"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/runner/memory"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/sandbox"

	"ralph/runner/slots"
	"ralph/runner/task/store"
	"ralph/state/option"
)

// Options are the values of all options. Each part belongs to the package that
// reads it, which also declares its rows.
type Options struct {
	rules.Policy
	pool.CallOptions
	pool.Continuity
	agent.EnvExclusion
	prompt.FileOptions
	store.PlanOptions
	gate.CheckOptions
	git.CommitOptions
	sandbox.Settings
	hooks.Commands
	agenthooks.Wanted
	memory.LessonOptions
	slots.SlotOptions
	Touch Notifications
	roles.Review
	AIOSOptions
	OutputOptions
}

// AIOSOptions is what a user can say about projects of AIOS.
type AIOSOptions roles.AIOSOptions

// OutputOptions is what a user can say about what ralph prints.
type OutputOptions struct {
	Verbose bool
	Notify  bool
}

// groups are the headings of the documents, in their order.
func groups() []string {
	return []string{"Limits", "Agent", "Session", "Circuit breaker", "Prompt and plan", "Checks", "Review", "Hooks",
		"Memory", "Environment", "Sandbox", "Commits", "Side by side", "In touch", "Output"}
}

// rows are all rows, bound to o, in the order of the documents.
func (o *Options) rows() []option.Row {
	table := slices.Concat(o.Policy.Options(), o.CallOptions.Options(), o.Continuity.Options(), o.EnvExclusion.Options(),
		o.FileOptions.Options(), o.PlanOptions.Options(), o.CheckOptions.Options(), o.Review.Options(),
		(*roles.AIOSOptions)(&o.AIOSOptions).Options(), o.Commands.Options(), o.Wanted.Options(), o.LessonOptions.Options(),
		o.CommitOptions.Options(), o.Settings.Options(), o.SlotOptions.Options(), o.Touch.Options(),
		o.OutputOptions.Options())
	rank := func(r option.Row) int { return slices.Index(groups(), r.Group) }
	sort.SliceStable(table, func(i, j int) bool { return rank(table[i]) < rank(table[j]) })
	return table
}

// Table returns every option, grouped, in the order of the documents. It is made
// once, because every verb needs it at its start. Callers must not change it.
var Table = sync.OnceValue(func() []option.Row { return new(Options).rows() })

// Options are the rows of the option table that fill o.
func (o *OutputOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Output", Key: "RALPH_VERBOSE", Flag: "verbose", Short: "v", YAML: "output.verbose",
		Kind: option.Bool, Default: "false", Field: &o.Verbose,
		Help: "Print everything the agent says and its tools answer, and log more.",
	}, {
		Group: "Output", Key: "ENABLE_NOTIFICATIONS", Aliases: []string{"RALPH_NOTIFY_TOOL"}, Flag: "notify",
		Short: "n", NoFlag: "no-notify", YAML: "output.notify",
		Kind: option.Bool, Default: "false", Field: &o.Notify,
		Spellings: map[string]string{"none": "false", "auto": "true", "tt": "true", "terminal-notifier": "true",
			"notify-send": "true"},
		Help: "Show desktop notifications, if NOTIFY names nothing else; --no-notify also turns NOTIFY off.",
	}}
}
