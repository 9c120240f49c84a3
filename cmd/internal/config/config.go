package config

import (
	"slices"

	"ralph/runner/gate"
	"ralph/runner/roles"
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

// Value is the value of the option with this key, as text; "" when there is no
// such key.
func (c *Config) Value(key string) string {
	for _, o := range c.table {
		if o.Key == key {
			return c.text(o)
		}
	}
	return ""
}

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
		rows = append(rows, Row{Key: o.Key, Value: c.display(o), Source: c.sources[o.Key], Help: o.Help})
	}
	return rows
}

// display is the value for people.
func (c *Config) display(o option.Row) string { return Display(o, c.text(o)) }

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
