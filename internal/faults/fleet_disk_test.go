//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/internal/world"
)

// The disk of the server is full: what was to be done elsewhere is done here, and nothing is lost. With room again, the
// workers get turns, from the same server.
func TestFleet_serversDiskIsFull_nothingIsLost(t *testing.T) {
	world.Long(t, "a fleet on a disk that fills")
	if !inNamespace(t) {
		return
	}
	f := &fleet{project: newProject(t, "beside", 2), address: freeAddress(t)}
	f.Env = append(f.Env, "PARALLEL_ANY=true", "TEST_COMMAND=true", machineVar+"="+here)
	store := filepath.Join(f.Home, ".local/state/ralph/fleet/store")
	f.Do(os.MkdirAll(store, 0o700))
	f.Do(unix.Mount("none", store, "tmpfs", 0, "size=1m"))
	t.Cleanup(func() { _ = unix.Unmount(store, unix.MNT_DETACH) })
	f.startServer()
	f.workers = append(f.workers, nil)
	f.startWorker(0)
	f.joined(1)
	f.run().Ends(0)
	f.wantAllOnce()
	elsewhere := func() (n int) {
		for _, e := range f.entries("try") {
			if strings.HasSuffix(e.text, " 0") {
				n++
			}
		}
		return n
	}
	before := elsewhere()
	if before == 0 {
		t.Fatal("the worker has had no turn")
	}
	room := keepFull(store)
	f.refill(2)
	p := f.run()
	if code := p.Wait(4 * time.Minute); code != 0 {
		t.Errorf("ended with %d:\n%s", code, p.Said())
	}
	f.wantAllOnce()
	// An offer is so short that it may fit into the last page of the queue's file. Only if none did, the server is in trouble.
	fit := elsewhere() - before
	t.Logf("with a full disk, %d turns elsewhere", fit)
	before = elsewhere()
	if fit == 0 {
		const trouble = "the queue of the fleet cannot be kept; trying again"
		f.Until("the server says why it starts again", func() bool { return strings.Contains(f.server.Said(), trouble) }, f.server.Said)
	}
	room()
	f.joined(1)
	f.refill(4)
	f.run().Ends(0)
	f.wantAllOnce()
	if elsewhere() == before {
		t.Error("with room again, the worker gets no turn")
	}
	f.close()
}

// keepFull fills a disk until room is called: whoever deletes a file there gets no room by it.
func keepFull(dir string) (room func()) {
	fill(dir)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				_ = os.Remove(filepath.Join(dir, "filler"))
				return
			case <-time.After(10 * time.Millisecond):
				fill(dir)
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
