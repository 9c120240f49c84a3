//go:build linux

package faults

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ralph/internal/world"
)

// odd does its task as beside does. On machine 0 and beside the run it takes long, and on machine 1 its work is bad.
func (a *actor) odd() int {
	a.listen()
	id, _, _ := strings.Cut(a.task, " ")
	note("try", id+" "+os.Getenv(machineVar))
	text := a.task + "\n"
	switch os.Getenv(machineVar) {
	case "0", here:
		time.Sleep(3 * time.Second) // sleep: the agent thinks
	case "1":
		text = "bad\n"
	}
	_ = os.WriteFile("work-"+id, []byte(text), 0o644)
	data, _ := os.ReadFile(planName)
	_ = os.WriteFile(planName, []byte(strings.Replace(string(data), "- [ ] "+a.task+"\n", "- [x] "+a.task+"\n", 1)), 0o644)
	return a.result(false, nil)
}

// wire passes connections on to an address. While it is held, it passes nothing on and closes nothing, as
// a network that is cut. Each read takes as long as pause.
type wire struct {
	held  atomic.Bool
	pause time.Duration
}

func (w *wire) listen(t *testing.T, to string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go w.connect(from, to)
		}
	}()
	return l.Addr().String()
}

func (w *wire) connect(from net.Conn, to string) {
	other, err := net.Dial("tcp", to)
	if err != nil {
		_ = from.Close()
		return
	}
	go w.pass(from, other)
	w.pass(other, from)
}

func (w *wire) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		for w.held.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(w.pause) // sleep: a slow network
		if _, failed := to.Write(buffer[:n]); err != nil && !errors.Is(err, io.EOF) || failed != nil || n == 0 {
			return
		}
	}
}

// One worker is cut off while it works, one says that its checks pass when they fail, one is slow. What is good lands.
func TestFleet_cutOffLyingAndSlowWorkers_onlyGoodWorkLandsOnce(t *testing.T) {
	world.Long(t, "a fleet")
	t.Parallel()
	f := newServer(t, "odd", 12)
	f.Env = append(f.Env, "MAX_RETRIES=0", "CB_SAME_ERROR_THRESHOLD=100", "MAX_ITERATIONS_PER_TASK=0",
		`TEST_COMMAND=test "$`+machineVar+`" = 1 || ! grep -s bad work-*`)
	cut, slow := &wire{}, &wire{pause: 20 * time.Millisecond}
	f.through[0], f.through[2] = cut.listen(t, f.address), slow.listen(t, f.address)
	for i := range 4 {
		f.workers = append(f.workers, nil)
		f.startWorker(i)
	}
	f.joined(4)
	run := f.run()
	f.Until("the agent of machine 0 works", func() bool { return f.triedOn("0") > 0 }, run.Said)
	cut.held.Store(true)
	release := time.AfterFunc(25*time.Second, func() { cut.held.Store(false) })
	defer release.Stop()
	if code := run.Wait(4 * time.Minute); code != 0 {
		t.Fatalf("the run ended with %d:\n%s", code, run.Said())
	}
	cut.held.Store(false)
	f.wantAllOnce()
	if got, err := git("-C", f.Dir, "grep", "-l", "^bad$", "HEAD", "--", "work-*").Output(); err == nil {
		t.Errorf("bad work landed: %s", got)
	}
	if f.triedOn("1") == 0 || f.triedOn("2") == 0 {
		t.Errorf("not all machines had work: %v", f.entries("try"))
	}
	t.Logf("tries: %d on the one that is cut off, %d on the liar, %d on the slow one, %d on the other one",
		f.triedOn("0"), f.triedOn("1"), f.triedOn("2"), f.triedOn("3"))
	f.close()
}

// triedOn counts the tasks that agents began on a machine.
func (f *fleet) triedOn(machine string) (n int) {
	for _, e := range f.entries("try") {
		if strings.HasSuffix(e.text, " "+machine) {
			n++
		}
	}
	return n
}
