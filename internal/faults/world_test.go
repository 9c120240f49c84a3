//go:build linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ralph/internal/fakegh"
	"ralph/internal/world"
	"ralph/state"
)

func TestMain(m *testing.M) {
	fakegh.Init()
	if act := os.Getenv(actVar); act != "" {
		os.Exit(play(act))
	}
	os.Exit(world.Main(m))
}

// leftBound is the promise: nothing is left this long after the runner is dead.
const leftBound = 2 * time.Second

// project has a plan and a fake agent that keeps its own books.
type project struct {
	*world.World
	ledger string
	tasks  int // boxes that were ever written
	gone   int // calls of which nothing was left
}

// newProject makes a project whose plan has so many open boxes.
func newProject(t *testing.T, act string, boxes int) *project {
	t.Helper()
	return newProjectIn(t, "", act, boxes)
}

func newProjectIn(t *testing.T, home, act string, boxes int) *project {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &project{World: world.New(t, home)}
	w.ledger, w.More = filepath.Join(w.Home, "ledger"), w.groups
	w.Env = append(w.Env, "GORACE=atexit_sleep_ms=0", "CLAUDE_CODE_CMD="+self, "MAX_CALLS_PER_HOUR=1000000", actVar+"="+act, ledgerVar+"="+w.ledger)
	w.Set("TERM", "dumb")
	w.Begin(w.plan(boxes))
	return w
}

// plan has so many open boxes that no plan before had.
func (w *project) plan(boxes int) string {
	plan := "# Plan\n\n"
	for range boxes {
		w.tasks++
		plan += fmt.Sprintf("- [ ] T%d do part %d\n", w.tasks, w.tasks)
	}
	return plan
}

func (w *project) refill(boxes int) { w.Write(planName, w.plan(boxes)) }

func (w *project) state() *state.Reader { return state.Open(w.Path(".ralph")) }

func (w *project) ralph(args ...string) *world.Process { return w.Start("ralph", args...) }

// groups are those of which the latest calls of the agent were the leaders, and
// in which something lives.
func (w *project) groups() map[int]string {
	alive := map[int]string{}
	calls := w.entries("call")
	for _, e := range calls[max(w.gone, len(calls)-20):] { // numbers of older ones may be somebody else's by now
		var pid int
		if _, err := fmt.Sscan(e.pid, &pid); err == nil && syscall.Kill(-pid, 0) == nil {
			alive[-pid] = "group of " + world.CommandLine(pid)
		}
	}
	if len(alive) == 0 {
		w.gone = len(calls)
	}
	return alive
}
