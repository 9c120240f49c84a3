// Package config reads the values of options from flags, the environment, .ralphrc and
// config.yaml, and overlays them; the rows come from the packages that use the values. They drive the flags, the
// environment, .ralphrc, config.yaml, the output of `ralph config`, the
// generated documents, and the argv of an inner process.
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

// The kinds of sources, from the weakest to the strongest.
const (
	SourceDefault     = "default"
	SourceUser        = "user"    // $XDG_CONFIG_HOME/ralph/config.yaml
	SourceProject     = "project" // .ralph/config.yaml
	SourceRC          = "rc"      // .ralphrc
	SourceEnvironment = "environment"
	SourceFlag        = "flag"
)

// Source says where a value came from.
type Source struct {
	Kind  string // one of the Source constants
	Where string // file:line, $VARIABLE or --flag; empty for a default
}

// String is the text for people: ".ralphrc:3 (rc)", "default".
func (s Source) String() string {
	if s.Where == "" {
		return s.Kind
	}
	return s.Where + " (" + s.Kind + ")"
}

// Config holds the typed values of all options, and where each came from.
type Config struct {
	Options

	agents  []listed[ownAgent]
	checks  []listed[gate.Check]
	hooks   []listed[hookRow]
	judges  []listed[roles.Reviewer]
	table   []option.Row
	sources map[string]Source
	own     map[string]*string // what the user's own file sets, by the option's key
	spelled map[string]string  // the name that .ralphrc uses, by the option's key; empty: another source has the value
}

// Source returns where the value of the option with this key came from; the
// zero Source when there is no such key.
func (c *Config) Source(key string) Source { return c.sources[key] }

// Row is one line of `ralph config`.
type Row struct {
	Key    string
	Value  string // in the form that .ralphrc takes, without quotes
	Source Source
	Help   string
}

// Rows returns every option in the order of the table.
func (c *Config) Rows() []Row {
	rows := make([]Row, 0, len(c.table))
	for _, o := range c.table {
		rows = append(rows, Row{Key: o.Key, Value: Display(o, c.text(o)), Source: c.sources[o.Key], Help: o.Help})
	}
	return rows
}

// Display is a value of an option for people. Of a secret, it says only that it is set. Of addresses, it leaves out
// the name, password or token before the host.
func Display(o option.Row, text string) string {
	if o.Secret && text != "" && !slices.Contains(o.Safe, text) {
		return "(set, not shown)"
	}
	if o.Arg == "URL" {
		return option.HideUsers(text)
	}
	return text
}

// Flags returns the arguments that give another ralph in the same project the
// values that came from flags here. Each is one argument, --flag=value, so that
// no value can be taken for a flag. Relative paths are now absolute.
func (c *Config) Flags() []string {
	var argv []string
	for _, o := range c.table {
		if c.sources[o.Key].Kind == SourceFlag {
			argv = append(argv, "--"+o.Flag+"="+c.text(o))
		}
	}
	return argv
}

// field points to the value of the option with this key.
func (c *Config) field(key string) any {
	return c.table[slices.IndexFunc(c.table, func(o option.Row) bool { return o.Key == key })].Field
}

func (c *Config) text(o option.Row) string { return o.Format(c.field(o.Key)) }

// Choose sets the value of an option that no source sets. It counts as a flag,
// so that an inner or a resumed run gets it, too. where says where it came from.
func (c *Config) Choose(key, value, where string) {
	option.Store(c.field(key), value)
	c.sources[key] = Source{SourceFlag, where}
}

// Index maps every key and alias to its row.
func Index() map[string]option.Row {
	table := Table()
	rows := make(map[string]option.Row, 2*len(table))
	for _, o := range table {
		rows[o.Key] = o
		for _, alias := range o.Aliases {
			rows[alias] = o
		}
	}
	return rows
}

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
