// Package carrier turns what a user writes in WORKERS into the command line that reaches a
// worker: on this machine, by ssh, or over the fleet. A carrier is a program that speaks the
// protocol of `ralph turn --away` on its stdin and stdout, so the run need not know where a turn
// is carried out.
package carrier

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ralph/state/option"
)

// Carrier is where a slot has its turns carried out. The zero value is this process.
type Carrier struct {
	Kind string // of the table; empty: local
	Host string // empty: the kind needs none
}

// Most is how many slots all carriers together may have.
const Most = 1024

// kind is a row of the table.
type kind struct {
	name string
	form string // what a user writes. It names HOST if the kind needs one.
	args func(c Carrier, w Way) []string
}

// Way is what a carrier's command line needs to know of this machine.
type Way struct {
	Hub string // the path of ralph-hub
	WorkerOptions
}

// LocalFleet is the address of the server on this machine, which the run starts if there is none.
const LocalFleet = "local"

// Reach are the arguments of ralph-hub that lead to the fleet.
func (w Way) Reach() (args []string) {
	for _, f := range [][2]string{{"--fleet", w.Fleet}, {"--creds", w.FleetCreds}} {
		if f[1] != "" && f[1] != LocalFleet {
			args = append(args, f[0], f[1])
		}
	}
	return args
}

func kinds() []kind {
	return []kind{
		{name: "local", form: "local:N", args: func(Carrier, Way) []string { return nil }},
		{name: "ssh", form: "ssh:HOST:N", args: func(c Carrier, _ Way) []string {
			return []string{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10",
				"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "--", c.Host, "ralph", "turn", "--away"}
		}},
		{name: Fleet, form: Fleet + ":N", args: func(_ Carrier, w Way) []string {
			return append([]string{w.Hub, "turn"}, w.Reach()...)
		}},
	}
}

// host stands in a form for the host of a worker.
const host = "HOST"

// forms are what a user can write.
func forms() string {
	var all []string
	for _, k := range kinds() {
		all = append(all, k.form)
	}
	return strings.Join(all, ", ")
}

// Fleet is the kind whose turns go to the workers of a fleet.
const Fleet = "fleet"

// Parse reads a list such as "local:2 ssh:build1:4": a carrier for each slot.
func Parse(text string) (all []Carrier, err error) {
	entries := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	if len(entries) == 0 && text != "" {
		return nil, fmt.Errorf("WORKERS: %q names no worker; known: %s", text, forms())
	}
	for _, entry := range entries {
		name, rest, _ := strings.Cut(entry, ":")
		i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("WORKERS: unknown kind of worker %q; known: %s", entry, forms())
		}
		k := kinds()[i]
		c := Carrier{Kind: name}
		number := rest
		if strings.Contains(k.form, host) {
			at := strings.LastIndex(rest, ":")
			c.Host, number = rest[:max(at, 0)], rest[at+1:]
			if c.Host == "" || c.Host[0] == '-' || strings.ContainsAny(c.Host, "\x00\n\t'\"\\$`") {
				return nil, fmt.Errorf("WORKERS: %q names no host; write %s, such as %s:build1:4",
					entry, k.form, k.name)
			}
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || len(all)+n > Most {
			return nil, fmt.Errorf("WORKERS: %q: the number of slots is from 1 to %d", entry, Most)
		}
		for range n {
			all = append(all, c)
		}
	}
	return all, nil
}

// Args is the command line of the carrier; nil: the turn is carried out in this process.
func (c Carrier) Args(w Way) []string {
	for _, k := range kinds() {
		if k.name == c.Kind {
			return k.args(c, w)
		}
	}
	return nil
}

// OnFleet is true if turns go to the workers of a fleet.
func (c Carrier) OnFleet() bool { return c.Kind == Fleet }

// Name is the carrier for people; empty: this machine.
func (c Carrier) Name() string {
	switch {
	case c.Host != "":
		return c.Host
	case c.Kind == "local":
		return ""
	}
	return c.Kind
}

// Fits says why two versions of ralph do not work together; nil: they do. One minor version apart is fine.
func Fits(mine, theirs string) error {
	if mine == theirs {
		return nil
	}
	a, b, ok1 := minor(mine)
	c, d, ok2 := minor(theirs)
	if ok1 && ok2 && a == c && b-d <= 1 && d-b <= 1 {
		return nil
	}
	return fmt.Errorf("it has ralph %q and this is ralph %q; they may be one minor version apart", theirs, mine)
}

func minor(version string) (major, minor int, ok bool) {
	f := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(f) < 3 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(f[0])
	minor, err2 := strconv.Atoi(f[1])
	return major, minor, err1 == nil && err2 == nil
}

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
