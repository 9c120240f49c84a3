package carrier

import (
	"fmt"
	"os"
	"slices"

	"ralph/state/option"
)

// WorkerOptions are the user's options for workers.
type WorkerOptions struct {
	Workers    string // where the slots are, as Parse reads it; empty: all on this machine
	Fleet      string // its address, or LocalFleet; empty: the server on this machine if Workers names a fleet
	FleetCreds string // a file with NATS credentials; empty: a token
}

// Check returns an error for workers that cannot exist.
func (o *WorkerOptions) Check() error {
	if _, err := Parse(o.Workers); err != nil || o.FleetCreds == "" {
		return err
	}
	if _, err := os.Stat(o.FleetCreds); err != nil {
		return fmt.Errorf("FLEET_CREDS: %w", err)
	}
	return nil
}

// OnFleet is true if turns go to a fleet.
func (o *WorkerOptions) OnFleet() bool { return o.Fleet != "" || o.Fixed() }

// Fixed is true if Workers says how many of them there are.
func (o *WorkerOptions) Fixed() bool {
	all, _ := Parse(o.Workers) // who opens the slots reports an error
	return slices.Contains(all, Carrier{Kind: Fleet})
}

// Options returns the rows of the option table that fill o.
func (o *WorkerOptions) Options() []option.Row {
	const group = "Side by side"
	return []option.Row{{
		Group: group, Key: "WORKERS", Flag: "workers", Arg: "LIST", YAML: "parallel.workers",
		Kind: option.String, Trust: true, Field: &o.Workers,
		Help: "Where the slots are, such as \"local:2 ssh:build1:4\", instead of PARALLEL; " +
			"a host needs ralph, git and the agent.",
	}, {
		Group: group, Key: "FLEET", Flag: "fleet", Arg: "URL", Alone: LocalFleet, YAML: "parallel.fleet",
		Kind: option.String, Trust: true, Field: &o.Fleet, What: LocalFleet + ", " + option.ServersForm,
		Takes: func(text []string) bool { return option.Servers(text[0]) },
		Help: "Also send turns to the workers of the fleet at this NATS address; " +
			"local means the server on this machine, which ralph starts if there is none.",
	}, {
		Group: group, Key: "FLEET_CREDS", Flag: "creds", Arg: "FILE", YAML: "parallel.fleet_creds",
		Kind: option.Path, Trust: true, Field: &o.FleetCreds,
		Help: "A file with NATS credentials for the fleet; empty means the token in RALPH_FLEET_TOKEN.",
	}}
}
