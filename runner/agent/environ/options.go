package environ

import "ralph/config/option"

// Exclusion is what a user can say about variables.
type Exclusion struct {
	EnvExclude []string // Filter.Exclude
}

// Options returns the rows of the option table that fill e.
func (e *Exclusion) Options() []option.Row {
	return []option.Row{{
		Group: "Environment", Key: "ENV_EXCLUDE", YAML: "env.exclude",
		Kind: option.Env, Valid: ValidEntry, Trust: true, Field: &e.EnvExclude,
		Help: "Environment variables to withhold from agents and checks, or to pass on if they start with !; " +
			"applies after the built-in rules, and the last match decides.",
	}}
}
