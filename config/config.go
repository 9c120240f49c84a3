// Package config reads ralph's options from all sources. The rows of the option table
// come from the packages that read the values. They drive the flags, the environment,
// .ralphrc, config.yaml, `ralph config`, the generated documentation and the argv of an
// inner ralph.
//
// size of package: all sources share one table and one form of a setting; apart, the
// readers would have to export it.
package config

import (
	"slices"

	"ralph/config/option"
)

// The kinds of sources, in ascending precedence.
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

// Config holds the typed values of all options, with their sources.
type Config struct {
	Options

	agents  []agentRow
	checks  []checkRow
	table   []option.Row
	sources map[string]Source
}

// Source returns the source of an option's value. It is zero for an unknown key.
func (c *Config) Source(key string) Source { return c.sources[key] }

// Value is an option's value as text, "" for an unknown key.
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
	Value  string // as in .ralphrc, without quotes
	Source Source
	Help   string
}

// Rows returns every option in the order of the table.
func (c *Config) Rows() []Row {
	rows := make([]Row, 0, len(c.table))
	for _, o := range c.table {
		rows = append(rows, Row{Key: o.Key, Value: c.text(o), Source: c.sources[o.Key], Help: o.Help})
	}
	return rows
}

// Flags returns the flags of this process as arguments for another ralph in the same
// project. Each is one argument, --flag=value, so that no value can be taken for a flag.
// Paths are absolute.
func (c *Config) Flags() []string {
	var argv []string
	for _, o := range c.table {
		if c.sources[o.Key].Kind == SourceFlag {
			argv = append(argv, "--"+o.Flag+"="+c.text(o))
		}
	}
	return argv
}

// field returns a pointer to an option's value.
func (c *Config) field(key string) any {
	return c.table[slices.IndexFunc(c.table, func(o option.Row) bool { return o.Key == key })].Field
}

func (c *Config) text(o option.Row) string { return o.Format(c.field(o.Key)) }
