// Package option has the type of an option's row; each package has the rows of the options
// that it uses, in its Options. A row has the option's names, the values that it takes, and
// where its value lives. Package config reads and overlays the values.
package option

import (
	"strings"
	"unicode"
)

// Kind says how the text of a value is read.
type Kind string

// The kinds of values.
const (
	Int      Kind = "int"      // a whole number
	USD      Kind = "usd"      // dollars, with or without a fraction
	Minutes  Kind = "minutes"  // a plain number is minutes; 90s, 2h also
	Hours    Kind = "hours"    // a plain number is hours; 90m, 2h30m also
	Duration Kind = "duration" // always with a unit: 30s, 5m, 2h
	Clock    Kind = "clock"    // a time of day: 23:00; empty: none
	Bool     Kind = "bool"
	String   Kind = "string"
	Enum     Kind = "enum"  // one of Row.Values
	Lines    Kind = "lines" // a list of texts, one on each line
	List     Kind = "list"  // split at the commas that are not inside parentheses
	Env      Kind = "env"   // a list of names of variables, as ENV_EXCLUDE has them
	Path     Kind = "path"  // relative to the project; on the command line to the working directory
)

// Row is one option.
type Row struct {
	Group string // heading in the documents
	Key   string // name in .ralphrc and in the environment
	// Aliases are other names that .ralphrc and the environment may use.
	Aliases []string
	Flag    string // long flag without dashes; empty: the option has no flag
	Short   string // one letter; empty: none
	NoFlag  string // long flag that means false; empty: none
	Arg     string // name of the flag's value in help; empty for a bool
	Alone   string // what the flag means without a value; empty: it needs one
	YAML    string // path in config.yaml, joined with dots
	// YAMLAliases are other paths. An empty value there means that the option is not set.
	YAMLAliases []string
	Kind        Kind
	Default     string // as text, in the form that .ralphrc takes
	// Min and Max bound a number or a duration, as text of the same kind; empty: no bound.
	Min, Max string
	Values   []string // what an enum allows, besides its default
	// Spellings are values of other tools, and what they mean here.
	Spellings map[string]string
	Help      string // one sentence, with the unit and the meaning of 0 or empty
	// Trust is true when the value decides which programs run, what the agent may
	// do, which secrets it gets or how its work is judged: from a project file it
	// needs the user's consent, unless it is empty or one of Safe. Of a list, each
	// entry must be one of Safe.
	Trust bool
	Safe  []string
	// Weakens reports whether a project's value protects the user less than their own;
	// it then needs their consent, too. Nil: it never does.
	Weakens func(own, value string) bool

	// Secret is true when the value holds keys: it is not shown, and not kept with a run.
	Secret bool

	// Valid accepts an entry of a list of kind Env; of other kinds it is nil.
	Valid func(entry string) bool
	// Takes accepts the entries of a list of kind List, or a text of kind String, and What completes "VALUE is not
	// ..." for it; nil: any do.
	Takes func(entries []string) bool
	What  string

	// Full refuses a list with an empty entry: what is left out would not be noticed.
	Full bool

	// Field points to where the value lives: *int, *int64, *float64,
	// *time.Duration, *bool, *string or *[]string.
	Field any
}

// Snake is a key in the spelling of config.yaml: requireEvidence is require_evidence.
func Snake(key string) string {
	var b strings.Builder
	last := ' '
	for _, r := range key {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}
