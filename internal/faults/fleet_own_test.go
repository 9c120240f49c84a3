//go:build linux

package faults

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/state"
)

// seenVar names a file that the test writes when it has seen two agents at work.
const seenVar = "RALPH_FAULTS_SEEN"

// together does its task as beside does, once two agents are at work and the test has seen them.
func (a *actor) together() int {
	end := time.Now().Add(world.Patience)
	for note("here", os.Getenv(machineVar)); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		n := 0
		for _, e := range readBooks(os.Getenv(ledgerVar)) {
			if e.kind == "here" {
				n++
			}
		}
		if _, err := os.Stat(os.Getenv(seenVar)); n > 1 && err == nil {
			break
		}
	}
	for _, entry := range os.Environ() {
		if strings.Contains(entry, "FLEET") {
			note("wrong", "the agent sees "+entry)
		}
	}
	return a.beside()
}

// startWorkerHere starts one of the user of the run, which finds the server by itself.
func (f *fleet) startWorkerHere() {
	f.Helper()
	p := f.Prepare("ralph-hub", "worker")
	p.Env = append(slices.Clone(f.Env), "RALPH_FLEET_TOKEN=not used", machineVar+"=worker")
	p.Launch()
	f.workers = append(f.workers, p)
}

// Without an address, run and worker find the server of this machine.
func TestFleet_withoutAddress_theServerOfThisMachineIsFound(t *testing.T) {
	world.Long(t, "a fleet")
	t.Parallel()
	f := &fleet{project: newProject(t, "beside", 1), address: freeAddress(t)}
	f.Env = append(f.Env, "PARALLEL_ANY=true", "TEST_COMMAND=true", machineVar+"="+here)
	none := f.ralph("--fleet")
	if none.Ends(2); !strings.Contains(none.Said(), "no server was started here; start one with: ralph-hub fleet") {
		t.Error(none.Said())
	}
	f.startServer()
	f.ralph("--fleet").Ends(0) // nobody joins: it works here
	file := filepath.Join(t.TempDir(), "seen")
	f.Env = append(f.Env, actVar+"=together", seenVar+"="+file)
	f.startWorkerHere()
	f.refill(2)
	run := f.ralph("--fleet")
	seen := false
	f.Until("the run ends", func() bool {
		if data, err := os.ReadFile(filepath.Join(f.Dir, ".ralph", "status.json")); err == nil {
			var s state.Status
			if json.Unmarshal(data, &s) == nil && s.Fleet != nil && s.Fleet.Workers == 1 && s.Fleet.Slots == 1 {
				host, _ := os.Hostname()
				if !seen && slices.ContainsFunc(s.Slots, func(s state.SlotStatus) bool { return s.Worker == host }) {
					seen = true
					f.Do(os.WriteFile(file, nil, 0o600))
				}
			}
		}
		return !run.Alive()
	}, run.Said)
	run.Ends(0)
	if !seen {
		t.Error("status.json has not shown the worker and its machine")
	}
	f.wantAllOnce()
	where := map[string]int{}
	for _, e := range f.entries("here") {
		where[e.text]++
	}
	if where["run"] != 1 || where["worker"] != 1 {
		t.Errorf("the agents worked at %v", where)
	}
	for _, e := range f.entries("wrong") {
		t.Error(e.text)
	}
	f.close()
}

// What cannot be joined ends the run with exit code 2 and one line, before anything starts.
func TestFleet_thatCannotBeJoined_isOneLine(t *testing.T) {
	world.Long(t, "a fleet")
	t.Parallel()
	f := newServer(t, "beside", 1)
	address, partial := "nats://"+f.address, filepath.Join(f.Home, "partial")
	f.Do(os.WriteFile(partial, []byte("[remote \"origin\"]\n\tpromisor = true\n"), 0o600))
	for _, c := range []struct {
		args []string
		env  string
		want string
	}{
		{[]string{"--fleet", "nats://127.0.0.1:1"}, "A=b", "the fleet cannot be used: reach the fleet at nats://127.0.0.1:1: nats: no servers available"},
		{[]string{"--fleet", address}, "RALPH_FLEET_TOKEN=wrong", "the fleet cannot be used: reach the fleet at " + address + ": nats: Authorization Violation"},
		{[]string{"--fleet", address, "--creds", "none"}, "A=b", "no such file or directory"},
		{[]string{"--fleet", "ann:horse@127.0.0.1:1"}, "A=b", "the fleet cannot be used: reach the fleet at ...@127.0.0.1:1: nats: no servers available"},
		{[]string{"--fleet", address}, "GIT_CONFIG_GLOBAL=" + partial, "a partial clone cannot be sent to other machines"},
	} {
		p := f.Prepare("ralph", c.args...)
		p.Env = append(slices.Clone(f.Env), c.env)
		p.Launch()
		p.Ends(2)
		if said := p.Said(); !strings.Contains(said, c.want) {
			t.Errorf("%q does not say %q:\n%s", c.args, c.want, said)
		}
	}
	f.Do(filepath.WalkDir(filepath.Join(f.Dir, ".ralph"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "horse") {
			t.Errorf("%s has the password of the fleet", path)
		}
		return err
	}))
	if calls := f.entries("call"); len(calls) > 0 {
		t.Errorf("the agent was called: %v", calls)
	}
	f.close()
}
