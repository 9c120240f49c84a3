//go:build linux

package faults

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

// hostile is a row: what the agent does in its first call, and how the run must
// end. Its plan has two boxes.
type hostile struct {
	act   string
	code  int
	calls int           // that are made; 0: not looked at
	bound time.Duration // for the whole run; 0: 15 s
	env   []string
	check func(t *testing.T, w *project)
	disk  *atomic.Int64 // gets the most that .ralph held; nil: nobody looks
}

// briefly ends a silent agent after a second.
var briefly = []string{"IDLE_TIMEOUT_MINUTES=1s"}

var hostiles = []hostile{
	{act: "ignores-term", calls: 3, env: briefly},
	{act: "daemon", calls: 2},
	{act: "bare-daemon", calls: 2, check: bareDaemonGone},
	{act: "fills-pty", calls: 2},
	{act: "silent", calls: 3, env: briefly},
	{act: "binary", calls: 2},
	{act: "closes-outputs", calls: 3, env: briefly},
	{act: "stops-reading", calls: 3},
	{act: "terminal-modes", calls: 2},
	{act: "stops-terminal", calls: 3, env: briefly},
	{act: "background-job", calls: 2},
	{act: "exits-unread", calls: 3},
	{act: "execs-itself"},
	{act: "signals-parent", calls: 2},
	{act: "kills-parent", calls: 3},
	{act: "stops-parent", calls: 2},
	{act: "ends-ralph", code: 143, calls: 1},
	{act: "kills-ralph", code: 137, calls: 1},
	{act: "deletes-state", calls: 3},
	{act: "deletes-state-always", code: 3, calls: 2},
	{act: "edits-rc", code: 9, calls: 2, check: settingsNotRun},
	{act: "sets-git", code: 4, calls: 3, env: []string{"MAX_ITERATIONS=3"}},
	{act: "ticks-all", code: 3, env: []string{"TEST_COMMAND=test -e work-T1", "COMPLETION_CLAIMS=100"}},
	{act: "own-state", calls: 2, check: ownStateReplaced},
	{act: "links-files", calls: 2},
	{act: "links-folders", calls: 2},
	{act: "pipes-run-files", calls: 2},
	{act: "pipe-prompt", code: 2},
	{act: "pipe-plan", calls: 3},
	{act: "endless-plan"},
	{act: "endless-prompt"},
	{act: "folder-status", calls: 2},
}

func TestHostileAgent_doesItsWorst_theRunEndsAsDocumentedAndNothingIsLeft(t *testing.T) {
	for n, h := range hostiles {
		t.Run(h.act, func(t *testing.T) {
			if testing.Short() && n%3 != 0 {
				t.Skip("long: one more agent with its own ralph")
			}
			t.Parallel()
			h.run(t)
		})
	}
}

func TestHostileAgent_printsWithoutEnd_memoryAndDiskStayBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long: more output than ralph keeps")
	}
	for act, gigabytes := range map[string]int{"talks": 10, "one-line": 1, "one-record": 1} {
		t.Run(act, func(t *testing.T) {
			size := int64(amount(280, gigabytes<<10)) << 20
			var most atomic.Int64
			h := hostile{act: act, bound: 10 * time.Minute, env: []string{amountVar + "=" + strconv.FormatInt(size, 10)}, disk: &most}
			p := h.run(t)
			t.Logf("printed %d MiB; .ralph held at most %d MiB; %d MiB of memory in %s", size>>20, most.Load()>>20, peak(p),
				p.ProcessState.UserTime()+p.ProcessState.SystemTime())
			if most.Load() > callBound {
				t.Errorf(".ralph held %d MiB", most.Load()>>20)
			}
		})
	}
}

const (
	// rawBound is what one run may leave on the disk.
	rawBound = 1100 << 20
	// callBound is what one call may: its raw output, and the events and the
	// readable log with all that is kept of them, one more of each while it rotates.
	callBound = (256 + 7*20 + 5*10) << 20
)

func (w *project) watchDisk(p *world.Process, most *atomic.Int64) {
	for {
		most.Store(max(most.Load(), diskUse(w.Path(".ralph"))))
		select {
		case <-p.Exited:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func diskUse(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func (h hostile) run(t *testing.T) *world.Process {
	w := newProject(t, h.act, 2)
	outside := filepath.Join(w.Home, "outside", "notes")
	w.Write("../outside/notes", "mine\n")
	w.Set(outsideVar, outside)
	w.Env = append(w.Env, h.env...)
	if h.act == "stops-reading" {
		w.Write(".ralph/PROMPT.md", "Do the next task of the plan.\n"+strings.Repeat("More and more words.\n", 20_000))
	}
	p := w.ralph()
	if h.disk != nil {
		go w.watchDisk(p, h.disk)
	}
	bound := h.bound
	if bound == 0 {
		bound = 15 * time.Second
	}
	if code := p.Wait(bound); code != h.code {
		t.Errorf("ended with %d, want %d:\n%s", code, h.code, p.Said())
	}
	w.NoneLeft(leftBound)
	if made := len(w.entries("call")); h.calls != 0 && made != h.calls {
		t.Errorf("%d calls, want %d:\n%s", made, h.calls, p.Said())
	}
	for _, e := range w.entries("wrong") {
		t.Error(e.text)
	}
	for _, err := range unreadable(w.Path(".ralph")) {
		t.Error(err)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine\n" {
		t.Errorf("a file outside of the project now holds %.200q, %v", text, err)
	}
	if others, _ := filepath.Glob(filepath.Join(filepath.Dir(outside), "*")); len(others) != 1 {
		t.Errorf("ralph wrote outside of the project: %q", others)
	}
	if mem := peak(p); mem > 300 {
		t.Errorf("%d MiB of memory were used", mem)
	}
	if h.check != nil {
		h.check(t, w)
	}
	return p
}

// peak is the most memory that ralph or one of its children has used, in MiB.
func peak(p *world.Process) int64 {
	return p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
}

func bareDaemonGone(t *testing.T, w *project) {
	text, err := os.ReadFile(w.ledger + ".bare")
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		t.Fatalf("the daemon never told its pid: %v %v", err, bad)
	}
	if strings.Contains(world.CommandLine(pid), w.ledger) {
		t.Errorf("daemon %d, without the mark in its environment, is left", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func settingsNotRun(t *testing.T, w *project) {
	w.ralph().Ends(2)
	w.Write(".ralphrc", "TEST_COMMAND='touch evil'\n")
	w.ralph().Ends(2)
	if w.Read("evil") != "" || len(w.Git("status", "--porcelain", "evil")) > 0 {
		t.Error("a setting that the agent wrote was run")
	}
}

func ownStateReplaced(t *testing.T, w *project) {
	s, err := w.state().Status()
	if err != nil || s.RunID == "mine" || s.Status != "completed" || s.LoopCount != 2 {
		t.Errorf("status.json: %+v, %v", s, err)
	}
	if c, err := w.state().Calls(); err != nil || c.Calls != 2 {
		t.Errorf("counters: %+v, %v; want 2 calls", c, err)
	}
}
