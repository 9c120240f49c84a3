package config

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"ralph/state/option"
)

// Way says how to reach a fleet.
type Way struct {
	URL   string // empty: the server on this machine
	Creds string // a file with NATS credentials; empty: a token
}

// Flags declares the flags; url is the name of one.
func (w *Way) Flags(fs *pflag.FlagSet, url string) {
	fs.StringVar(&w.URL, url, "", "The `URL` of the fleet; without it, the server on this machine.")
	fs.StringVar(&w.Creds, "creds", w.Creds, "A `FILE` with NATS credentials, instead of RALPH_FLEET_TOKEN.")
}

// Check returns what is wrong, as a line for people; url is the name of a flag.
func (w *Way) Check(url string) error {
	if w.URL != "" && !option.Servers(w.URL) {
		return fmt.Errorf("--%s %q is not %s", url, option.HideUsers(w.URL), option.ServersForm)
	}
	if w.Creds != "" {
		if _, err := os.Stat(w.Creds); err != nil {
			return fmt.Errorf("--creds: %w", err)
		}
	}
	return nil
}

// Worker has the settings of a worker. ralph worker passes them to ralph-hub worker.
type Worker struct {
	Way
	Slots int
}

// Flags declares the flags.
func (w *Worker) Flags(fs *pflag.FlagSet) {
	w.Way.Flags(fs, "join")
	fs.IntVar(&w.Slots, "slots", 1, "How many turns to carry out at the same time: `N`.")
}

// Check returns what is wrong, as a line for people.
func (w *Worker) Check() error {
	if w.Slots < 1 || w.Slots > 64 {
		return fmt.Errorf("--slots %d: from 1 to 64", w.Slots)
	}
	return w.Way.Check("join")
}
