package agent

import (
	"ralph/runner/agent/argv"
	"ralph/runner/agent/environ"
)

// EnvFilter decides which environment variables agents and checks get; see
// environ.Filter. The zero filter is that of a user who has set nothing.
type EnvFilter struct {
	Custom  []Spec   // rows of the user's own
	Exclude []string // the user's entries
}

func (f EnvFilter) filter() environ.Filter {
	filter := environ.Filter{Exclude: f.Exclude}
	for _, s := range append(Specs(), f.Custom...) {
		filter.Agents = append(filter.Agents, s.environ())
	}
	return filter
}

// Checks returns what a check gets of env, NAME=value.
func (f EnvFilter) Checks(env []string) []string { return f.filter().Checks(env) }

// List returns a row for every variable of r.Env and for those that ralph sets
// for the call, sorted by name.
func (f EnvFilter) List(s Spec, r Request) []environ.Row {
	return f.filter().List(s.environ(), s.call(r))
}

// Held returns the names that r.Env has and the agent does not get, sorted.
func (f EnvFilter) Held(s Spec, r Request) []string { return f.filter().Held(s.environ(), s.call(r)) }

func (s Spec) environ() environ.Agent {
	a := s.Env
	a.Name = s.Name
	return a
}

func (s Spec) call(r Request) environ.Call {
	return environ.Call{Env: r.Env, Model: r.Model, BypassAsRoot: r.Root && r.PermissionMode == argv.PermitBypass}
}

// env is the environment of the call.
func (s Spec) env(r Request) []string { return r.Filter.filter().ForCall(s.environ(), s.call(r)) }
