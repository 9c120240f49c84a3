package hub

import (
	"os"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/hub/fleet"
)

// stateHome is the user's folder for state.
func stateHome() string { return config.Loader{Env: os.Environ(), Home: os.Getenv("HOME")}.StateHome() }

// newWay says how a verb reaches a fleet, as far as the environment knows.
func newWay() config.Way { return config.Way{Creds: os.Getenv(fleet.CredsVar)} }

// reach says how to reach the fleet that the flags name; url is the name of a flag. Without a URL, it is the server on
// this machine.
func reach(w config.Way, url string, worker bool) (a fleet.Access, err error) {
	if err = w.Check(url); err == nil && w.URL == "" {
		a, err = fleet.Local(stateHome(), worker)
	} else if err == nil {
		a = fleet.Access{URL: w.URL, Creds: w.Creds, Token: os.Getenv(fleet.TokenVar)}
	}
	if err != nil {
		return a, cmdline.UsageError("%v", err)
	}
	return a, nil
}
