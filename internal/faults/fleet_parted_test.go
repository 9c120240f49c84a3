//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

// first reports whether no agent on this machine has noted this before.
func first(kind, machine string) bool {
	for _, e := range readBooks(os.Getenv(ledgerVar)) {
		if e.kind == kind && e.text == machine {
			return false
		}
	}
	note(kind, machine)
	return true
}

// goesOn does its task as beside does. The first on machine 0 works on and on.
func (a *actor) goesOn() int {
	if machine := os.Getenv(machineVar); machine == "0" && first("goes-on", machine) {
		a.listen()
		time.Sleep(5 * time.Minute) // sleep: the agent works until it is ended
	}
	return a.beside()
}

// The network between a worker and the server is cut for longer than a session lasts. The agent there ends while it is
// cut, another worker does the task, and once the network is back the worker gets turns again.
func TestFleet_networkIsCut_agentEndsAndNothingLandsTwice(t *testing.T) {
	world.Long(t, "a fleet whose network is cut for longer than a session lasts")
	t.Parallel()
	f := newServer(t, "goes-on", 2)
	cut := &wire{}
	f.through[0] = cut.listen(t, f.address)
	f.workers = append(f.workers, nil)
	f.startWorker(0)
	f.joined(1)
	run := f.run()
	f.Until("the agent on machine 0 works", func() bool { return len(f.entries("goes-on")) > 0 }, run.Said)
	cut.held.Store(true)
	f.workers = append(f.workers, nil)
	f.startWorker(1)
	f.Until("the agent ends while its worker is cut off", func() bool {
		return !f.agentLives("0")
	}, run.Said, f.workers[0].Said)
	f.Until("the other worker has done all tasks", func() bool { return len(f.landed()) == f.tasks }, run.Said)
	cut.held.Store(false)
	run.Ends(0)
	f.wantAllOnce()
	before := f.triedOn("0")
	f.Until("the worker that was cut off gets turns again", func() bool {
		f.refill(2)
		f.run().Ends(0)
		return f.triedOn("0") > before
	}, f.workers[0].Said)
	f.wantAllOnce()
	f.close()
}

// agentLives reports whether an agent of this machine is alive.
func (f *fleet) agentLives(machine string) bool {
	for pid, line := range f.Living() {
		env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if strings.Contains(line, "faults.test") && strings.Contains(string(env), machineVar+"="+machine+"\x00") {
			return true
		}
	}
	return false
}

// flood is what floods prints: more than may be on the way.
const flood = 24 << 20

// floods does its task as beside does, and says much before.
func (a *actor) floods() int {
	if os.Getenv(machineVar) == here {
		return a.beside()
	}
	a.listen()
	text := strings.Repeat("all work and no play ", 1000)
	note("floods", os.Getenv(machineVar))
	for n := 0; n < flood; n += len(text) {
		a.say(text)
	}
	note("flooded", os.Getenv(machineVar))
	return a.doneBeside()
}

// What brings a turn to the fleet stands still while the agent prints more and more, and then goes on: the worker holds
// the agent up, keeps little of it, and the turn comes to its end at the first try.
func TestFleet_runDoesNotRead_agentIsHeldUpAndNothingIsLost(t *testing.T) {
	world.Long(t, "a fleet whose run stands still for seconds")
	t.Parallel()
	f := newFleet(t, "floods", 2, 1)
	run := f.run()
	f.Until("the agent prints", func() bool { return len(f.entries("floods")) > 0 }, run.Said)
	carriers := f.carriers()
	if len(carriers) != 1 {
		t.Fatalf("%d processes bring a turn to the fleet", len(carriers))
	}
	f.Do(syscall.Kill(carriers[0], syscall.SIGSTOP))
	stopped := time.Now()
	most := 0
	f.Until("the run has stood still", func() bool {
		most = max(most, f.residentOf(f.workers[0].Process.Pid))
		return time.Since(stopped) > 10*time.Second
	})
	if len(f.entries("flooded")) > 0 {
		t.Error("the agent was not held up")
	}
	f.Do(syscall.Kill(carriers[0], syscall.SIGCONT))
	run.Ends(0)
	f.wantAllOnce()
	if n := f.triedOn("0"); n != 1 {
		t.Errorf("the task was tried %d times", n)
	}
	t.Logf("the worker had at most %d MiB", most>>20)
	if most > 128<<20 {
		t.Errorf("the worker has %d MiB of memory", most>>20)
	}
	f.close()
}

// residentOf is the memory of a process, in bytes.
func (f *fleet) residentOf(pid int) int {
	f.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	f.Do(err)
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after + " -")[0])
	f.Do(err)
	return kib << 10
}

// findsFile does its task as beside does, once the file that the test writes is there.
func (a *actor) findsFile() int {
	if os.Getenv(machineVar) == here {
		return a.beside()
	}
	a.listen()
	note("waits", os.Getenv(machineVar))
	for end := time.Now().Add(world.Patience); os.Getenv(machineVar) == "0" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(os.Getenv(seenVar)); err == nil {
			break
		}
	}
	return a.doneBeside()
}

// Two workers carry out the same turn, for the first one stands still for so long that the run gives it up. What the
// second one brings lands; the first one is told that nobody wants its work, and counts it.
func TestFleet_turnCarriedOutTwice_oneResultCounts(t *testing.T) {
	world.Long(t, "a fleet with a worker that stands still for longer than a session lasts")
	t.Parallel()
	f := newServer(t, "finds-file", 2)
	file := filepath.Join(t.TempDir(), "seen")
	f.Env = append(f.Env, seenVar+"="+file)
	f.workers = append(f.workers, nil)
	f.startWorker(0)
	f.joined(1)
	run := f.run()
	f.Until("the agent on machine 0 works", func() bool { return len(f.entries("waits")) == 1 }, run.Said)
	f.Do(f.workers[0].Process.Signal(syscall.SIGSTOP))
	f.workers = append(f.workers, nil)
	f.startWorker(1)
	f.Until("both agents have worked", func() bool { return f.triedOn("1") == 1 }, run.Said)
	f.Do(os.WriteFile(file, nil, 0o600))
	f.Until("the first one is done, too", func() bool { return f.triedOn("0") == 1 }, run.Said)
	f.Do(f.workers[0].Process.Signal(syscall.SIGCONT))
	run.Ends(0)
	f.wantAllOnce()
	f.Until("the first worker counts the result that nobody wants", func() bool {
		p := f.Start("ralph-hub", "workers")
		p.Ends(0)
		for line := range strings.Lines(p.Said()) { // MACHINE RALPH BUSY of SLOTS REFUSED DISCARDED
			if row := strings.Fields(line); len(row) > 6 && row[6] == "1" {
				return true
			}
		}
		return false
	}, f.workers[0].Said)
	f.close()
}
