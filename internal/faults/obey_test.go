//go:build linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ralph/internal/world"
)

// fullPipe is a pipe that nobody reads, and that has no room left: a stopped pager.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := unix.Write(p[1], make([]byte, 4096)); err != nil {
			break
		}
	}
	_ = unix.SetNonblock(p[1], false)
	t.Cleanup(func() { _ = unix.Close(p[0]) })
	return os.NewFile(uintptr(p[1]), "full pipe")
}

// Whatever a verb waits for, it obeys.
func TestVerbs_blockedByAFileOrByTheirOutput_obeyWithinTwoSeconds(t *testing.T) {
	world.Long(t, "verbs that hang")
	verbs := []string{"run --headless --live", "status", "monitor --plain", "iterations", "runs", "report", "undo", "run --prompt=pipe"}
	for _, verb := range verbs {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			for _, by := range []string{"output", "events"} {
				t.Run(fmt.Sprintf("%s %s %s", verb, by, unix.SignalName(sig)), func(t *testing.T) {
					t.Parallel()
					w := newProject(t, "worker", 2)
					w.ralph("once").Ends(4)
					w.Do(unix.Mkfifo(filepath.Join(w.Dir, "pipe"), 0o600))
					p := w.Prepare("ralph", strings.Fields(verb)...)
					if by == "output" {
						p.Stdout = fullPipe(t)
					} else {
						w.Do(os.Remove(w.Path(".ralph/events.jsonl")))
						w.Do(unix.Mkfifo(w.Path(".ralph/events.jsonl"), 0o600))
					}
					p.Launch()
					defer p.Forget()
					time.Sleep(700 * time.Millisecond) // sleep: most of them are blocked by now, others have ended
					asked := time.Now()
					if err := p.Process.Signal(sig); errors.Is(err, os.ErrProcessDone) {
						return
					}
					p.Wait(10 * time.Second)
					if took := time.Since(asked); took > 2*time.Second {
						t.Errorf("obeyed after %s:\n%s", took, p.Said())
					}
					w.NoneLeft(leftBound)
				})
			}
		}
	}
}
