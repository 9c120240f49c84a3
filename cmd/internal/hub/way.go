package hub

import (
	"os"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/fleet"
)

// stateHome is the user's folder for state.
func stateHome() string { return config.Loader{Env: os.Environ(), Home: os.Getenv("HOME")}.StateHome() }

// way says how a verb reaches a fleet.
type way struct{ config.Way }

// newWay is that of the environment.
func newWay() way { return way{config.Way{Creds: os.Getenv(fleet.CredsVar)}} }

// access says how to reach the fleet. Without a URL, it is the server on this machine.
func (w *way) access(worker bool) (fleet.Access, error) {
	if w.URL == "" {
		a, err := fleet.Local(stateHome(), worker)
		if err != nil {
			return a, cmdline.UsageError("%v", err)
		}
		return a, nil
	}
	return fleet.Access{URL: w.URL, Creds: w.Creds, Token: os.Getenv(fleet.TokenVar)}, nil
}

// check checks the flags of a verb for the runs of a fleet.
func (w *way) check() error {
	if err := w.Check("fleet"); err != nil {
		return cmdline.UsageError("%v", err)
	}
	return nil
}
