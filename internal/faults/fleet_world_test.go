//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ralph/internal/world"
)

// fleet is a server, workers that have homes of their own, and a project whose run has one slot here.
type fleet struct {
	*project
	address string // of the server
	token   string // of workers
	server  *world.Process
	workers []*world.Process
	// through is the address that a worker uses instead; empty: that of the server.
	through map[int]string
	// program is a worker's ralph-hub; empty: the one of all.
	program map[int]string
	env     map[int][]string // more of it, by worker
}

// newFleet starts a server and so many workers.
func newFleet(t *testing.T, act string, boxes, workers int) *fleet {
	t.Helper()
	f := newServer(t, act, boxes)
	for range workers {
		f.workers = append(f.workers, nil)
		f.startWorker(len(f.workers) - 1)
	}
	f.joined(workers)
	return f
}

// newServer starts one that has no worker yet.
func newServer(t *testing.T, act string, boxes int) *fleet {
	t.Helper()
	f := &fleet{project: newProject(t, act, boxes), address: freeAddress(t), through: map[int]string{}, program: map[int]string{}, env: map[int][]string{}}
	f.Env = append(f.Env, "PARALLEL_ANY=true", "TEST_COMMAND=true", machineVar+"="+here)
	f.startServer()
	return f
}

// freeAddress is one that nobody listened on a moment ago.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (f *fleet) startServer() {
	f.Helper()
	f.server = f.Start("ralph-hub", "fleet", "--listen", f.address)
	var note struct{ WorkerToken string }
	f.Until("the server listens", func() bool {
		data, _ := os.ReadFile(filepath.Join(f.Home, ".local/state/ralph/fleet/server.json"))
		return strings.Contains(f.server.Said(), "nats://"+f.address) && json.Unmarshal(data, &note) == nil
	}, f.server.Said)
	f.token = note.WorkerToken
}

func (f *fleet) startWorker(i int) {
	f.Helper()
	hub, address := "ralph-hub", f.address
	if f.program[i] != "" {
		hub = f.program[i]
	}
	if f.through[i] != "" {
		address = f.through[i]
	}
	p := f.Prepare(hub, "worker", "--join", "nats://"+address)
	home := filepath.Join(f.Home, fmt.Sprint("machine", i))
	f.Do(os.MkdirAll(home, 0o700))
	p.Env = append(slices.Clone(f.Env), "HOME="+home, "RALPH_FLEET_TOKEN="+f.token, machineVar+"="+fmt.Sprint(i))
	p.Env = append(p.Env, f.env[i]...)
	p.Dir = home
	p.Launch()
	f.workers[i] = p
}

// machineVar is which worker of a fleet an agent works for.
const machineVar = "RALPH_FAULTS_MACHINE"

// here is the machine of an agent that works for no worker, but beside the run.
const here = "run"

// run starts a run that has one slot here, and those of the workers.
func (f *fleet) run(args ...string) *world.Process {
	f.Helper()
	return f.ralph(append(args, "--fleet")...)
}

// joined waits until the server lists so many workers.
func (f *fleet) joined(n int) {
	f.Helper()
	host, _ := os.Hostname()
	f.Until(fmt.Sprintf("the server lists %d workers", n), func() bool {
		p := f.Start("ralph-hub", "workers")
		p.Wait(world.Patience)
		return strings.Count(p.Said(), host) >= n
	}, f.server.Said)
}

// carriers are the processes that bring turns to the fleet.
func (f *fleet) carriers() (pids []int) {
	for pid, line := range f.Living() {
		if strings.Contains(line, "ralph-hub turn") {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// kill ends a process without a warning.
func (f *fleet) kill(p *world.Process) {
	f.Helper()
	_ = p.Process.Signal(syscall.SIGKILL)
	p.Wait(world.Patience)
	p.Forget()
}

// close ends workers and server in order.
func (f *fleet) close() {
	f.Helper()
	for _, p := range append(slices.Clone(f.workers), f.server) {
		_ = p.Process.Signal(syscall.SIGTERM)
		p.Ends(0)
	}
	f.NoneLeft(leftBound)
}

// landed is how often each task is part of the user's branch, by its id.
func (f *fleet) landed() map[string]int {
	all := map[string]int{}
	for id := range strings.FieldsSeq(f.Git("log", "--format=%(trailers:key=Ralph-Task,valueonly)")) {
		all[id]++
	}
	return all
}

// tries is how often an agent began each task, by the first word of its text.
func (f *fleet) tries() map[string]int {
	all := map[string]int{}
	for _, e := range f.entries("try") {
		id, _, _ := strings.Cut(e.text, " ")
		all[id]++
	}
	return all
}

// wantAllOnce checks that every task that was ever in the plan has landed, once.
func (f *fleet) wantAllOnce() {
	f.Helper()
	landed := f.landed()
	for id, times := range landed {
		if times != 1 {
			f.Errorf("task %s landed %d times", id, times)
		}
	}
	if len(landed) != f.tasks {
		f.Errorf("%d tasks landed, %d were in the plan", len(landed), f.tasks)
	}
	for n := 1; n <= f.tasks; n++ {
		if name := fmt.Sprint("work-T", n); f.Read(name) == "" {
			f.Errorf("%s is missing", name)
		}
	}
	if got := f.Git("status", "--porcelain", "--", ":!.ralph"); got != "" {
		f.Errorf("the checkout: %s", got)
	}
	wantNumbersOnce(f.TB.(*testing.T), f.project)
}
