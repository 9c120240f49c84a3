package agent

import "ralph/state/option"

// EnvExclusion is what a user can say about variables.
type EnvExclusion struct {
	EnvExclude []string // Filter.Exclude
}

// Options returns the rows of the option table that fill e.
func (e *EnvExclusion) Options() []option.Row {
	return []option.Row{{
		Group: "Environment", Key: "ENV_EXCLUDE", YAML: "env.exclude",
		Kind: option.Env, Valid: validEnvEntry, Trust: true, Field: &e.EnvExclude,
		Help: "Environment variables to withhold from agents and checks, or to pass on if they start with !; " +
			"applies after the built-in rules, and the last match decides.",
	}}
}
