// Package config is the one place where ralph's options are defined: a table of
// rows drives the flags, the environment, .ralphrc, config.yaml, the output of
// `ralph config`, the generated documents, and the argv of an inner process.
//
// size of package: one reader for each kind of source around one table; apart
// they would have to export how a value travels.
package config

import "ralph/runner/rules"

// Kind says how the text of a value is read.
type Kind string

// The kinds of values.
const (
	KindInt      Kind = "int"      // a whole number
	KindUSD      Kind = "usd"      // dollars, with or without a fraction
	KindMinutes  Kind = "minutes"  // a plain number is minutes; 90s, 2h also
	KindHours    Kind = "hours"    // a plain number is hours; 90m, 2h30m also
	KindDuration Kind = "duration" // always with a unit: 30s, 5m, 2h
	KindBool     Kind = "bool"
	KindString   Kind = "string"
	KindEnum     Kind = "enum" // one of Option.Values
	KindList     Kind = "list" // split at the commas that are not inside parentheses
	KindEnv      Kind = "env"  // a list of names of variables; see environ.ValidEntry
	KindPath     Kind = "path" // relative to the project; on the command line to the working directory
)

// Option is one row of the table.
type Option struct {
	Group string // heading in the documents
	Key   string // name in .ralphrc and in the environment
	// Aliases are other names that .ralphrc and the environment may use.
	Aliases []string
	Flag    string // long flag without dashes; empty: the option has no flag
	Short   string // one letter; empty: none
	NoFlag  string // long flag that means false; empty: none
	Arg     string // name of the flag's value in help; empty for a bool
	YAML    string // path in config.yaml, joined with dots
	Kind    Kind
	Default string // as text, in the form that .ralphrc takes
	// Min and Max bound a number or a duration, as text of the same kind; empty: no bound.
	Min, Max string
	Values   []string // what an enum allows, besides its default
	Help     string   // one sentence, with the unit and the meaning of 0 or empty
	// Trust is true when the value decides which programs run or which secrets
	// they get: from a project file it needs the user's consent, unless it is empty or one of Safe.
	Trust bool
	Safe  []string

	// field returns a pointer to where the value lives.
	field func(*rules.Options) any
}

// index maps every key and alias to its row.
func index(table []Option) map[string]Option {
	rows := make(map[string]Option, 2*len(table))
	for _, o := range table {
		rows[o.Key] = o
		for _, alias := range o.Aliases {
			rows[alias] = o
		}
	}
	return rows
}
