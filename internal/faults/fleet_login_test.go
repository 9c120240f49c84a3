//go:build linux

package faults

import (
	"os"
	"strings"
	"testing"

	"ralph/internal/world"
)

// loggedOut does its task as beside does, but on machine 0 nobody has logged in.
func (a *actor) loggedOut() int {
	if os.Getenv(machineVar) != "0" {
		return a.beside()
	}
	a.listen()
	return a.result(false, map[string]any{"is_error": true, "result": "Not logged in · Please run /login"})
}

// An agent that cannot be used on the machine of a worker does not end the run.
func TestFleet_agentOfAWorkerIsNotLoggedIn_theRunGoesOnWithoutIt(t *testing.T) {
	world.Long(t, "a fleet")
	t.Parallel()
	f := newServer(t, "logged-out", 2)
	f.workers = append(f.workers, nil)
	f.startWorker(0)
	f.joined(1)
	run := f.run()
	run.Ends(0)
	f.wantAllOnce()
	host, _ := os.Hostname()
	if want := "on " + host + ": not logged in"; !strings.Contains(strings.Join(strings.Fields(run.Said()), " "), want) {
		t.Errorf("the run does not say %q:\n%s", want, run.Said())
	}
	f.close()
}
