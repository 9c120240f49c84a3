//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

// daemons are scripts that live for ever. $0 has the path of the agent's books; $1 is the script.
var daemons = map[string]struct {
	script string
	bare   bool // without an environment
	holds  bool // the terminal
}{
	"of a session of its own":  {script: "while :; do sleep 600; done"},
	"forked twice":             {script: `[ "$2" ] || { setsid sh -c "$1" "$0" "$1" twice & exit; }; while :; do sleep 1; done`},
	"that ignores TERM":        {script: `trap "" TERM HUP INT; while :; do sleep 1; done`, bare: true},
	"that holds the terminal":  {script: `trap "" HUP TERM; while :; do sleep 1; done`, holds: true},
	"that is soon another one": {script: `trap "" TERM HUP; sleep 0.1; setsid sh -c "$1" "$0" "$1" &`, bare: true},
}

// fosters does its task after it has left a daemon of each kind behind.
func (a *actor) fosters(beside bool) int {
	a.listen()
	for _, d := range daemons {
		cmd := exec.Command("sh", "-c", d.script, fmt.Sprintf("%s:%d", os.Getenv(ledgerVar), a.call), d.script)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if d.bare {
			cmd.Env = []string{"PATH=/usr/bin:/bin"}
		}
		if d.holds {
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		}
		if err := cmd.Start(); err != nil {
			note("wrong", err.Error())
		}
	}
	note("fostered", "")
	time.Sleep(100 * time.Millisecond) // sleep: the agent thinks
	if beside {
		return a.doneBeside()
	}
	a.work()
	return a.result(firstOpen() == "", nil)
}

// daemonsOf lists the daemons of calls up to a number.
func (w *project) daemonsOf(calls int) map[int]string {
	found := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		line := world.CommandLine(pid)
		_, after, ok := strings.Cut(line, w.ledger+":")
		number, _, _ := strings.Cut(after, " ")
		if call, err := strconv.Atoi(number); ok && err == nil && call <= calls {
			found[pid] = line
		}
	}
	return found
}

// guards lists the guards of a running ralph.
func guards(p *world.Process) (pids []int) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.Process.Pid))
	for _, file := range all {
		text, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && world.CommandLine(pid) == "pty-guard" {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// newFoster is a project whose agent leaves daemons behind.
func newFoster(t *testing.T, act string, boxes int) *siege {
	t.Helper()
	s := newSiege(t, act)
	s.tasks = 0
	s.refill(boxes)
	s.Env = append(s.Env, "CB_NO_PROGRESS_THRESHOLD=1000", "CB_SAME_ERROR_THRESHOLD=1000", "MAX_ITERATIONS_PER_TASK=0")
	s.More = func() map[int]string {
		left := s.groups()
		for pid, line := range s.daemonsOf(1 << 30) {
			left[pid] = line
		}
		return left
	}
	return s
}

// ways are how a call is ended in the middle. Those that leave ralph alive return true.
var ways = map[string]func(s *siege, p *world.Process, r *rand.Rand) (goesOn bool){
	"guard": func(_ *siege, p *world.Process, r *rand.Rand) bool {
		all := guards(p)
		if len(all) > 0 && r.IntN(3) > 0 {
			all = []int{all[r.IntN(len(all))]}
		}
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return true
	},
	"agent": func(s *siege, _ *world.Process, _ *rand.Rand) bool {
		calls := s.entries("call")
		if pid, err := strconv.Atoi(calls[len(calls)-1].pid); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return true
	},
	"ralph": func(_ *siege, p *world.Process, _ *rand.Rand) bool {
		_ = p.Process.Kill()
		return false
	},
	"TERM": func(_ *siege, p *world.Process, _ *rand.Rand) bool {
		_ = p.Process.Signal(syscall.SIGTERM)
		return false
	},
}

// strike ends a call of a run in the middle, and then the run. Every fifth run that goes on must first try again.
func (s *siege) strike(n int, how string, r *rand.Rand) {
	s.Helper()
	if s.open() == 0 {
		s.refill(10)
	}
	calls := len(s.entries("call"))
	p := s.ralph(s.verb()...)
	defer p.Forget()
	s.await(p, moment{how: how, after: time.Duration(r.IntN(400)) * time.Millisecond}, calls, nil)
	goesOn := ways[how](s, p, r)
	if goesOn {
		s.goesOn(p, how, n)
	}
	p.Wait(world.Patience)
	s.slowest = max(s.slowest, s.NoneLeft(leftBound))
	s.moments, s.calls = s.moments+1, s.calls+len(s.entries("call"))-calls
}

// goesOn waits until the daemons of the calls so far are gone, and ends the run.
func (s *siege) goesOn(p *world.Process, how string, n int) {
	s.Helper()
	struck := len(s.entries("call"))
	var left map[int]string
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if left = s.daemonsOf(struck); len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	if len(left) > 0 {
		s.Errorf("%s killed: %d daemons are left while ralph goes on: %v", how, len(left), left)
	}
	if n%5 == 0 {
		s.Until("another call, or the end of the plan", func() bool { return len(s.entries("call")) > struck || !p.Alive() }, p.Said)
	}
	if !p.Alive() && s.open() > 0 {
		s.Errorf("%s killed: the run has ended:\n%s", how, p.Said())
	}
	_ = p.Process.Signal(syscall.SIGTERM)
}

// allDone finishes the plan and checks that each task was done.
func (s *siege) allDone() {
	s.Helper()
	if s.open() == 0 {
		s.refill(2)
	}
	s.ralph().Ends(0)
	for n := 1; n <= s.tasks; n++ {
		if _, code := s.Run("git", "cat-file", "-e", fmt.Sprintf("HEAD:work-T%d", n)); code != 0 {
			s.Errorf("task T%d is lost", n)
		}
	}
	for _, e := range s.entries("wrong") {
		s.Error(e.text)
	}
	s.Logf("%d moments, %d calls with %d daemons each, %d tasks; all processes gone within %s", s.moments, s.calls, len(daemons), s.tasks,
		s.slowest.Round(time.Millisecond))
}

func TestGuardKilled_randomMoments_noDaemonIsLeftAndNoTaskIsLost(t *testing.T) {
	world.Long(t, "guards that are killed")
	for name, c := range map[string]struct {
		act string
		env []string
	}{
		"one at a time": {"fosters", nil},
		"side by side":  {"fosters-beside", []string{"PARALLEL=3", "PARALLEL_ANY=true"}},
	} {
		for part := range 2 {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newFoster(t, c.act, 10)
				s.Env = append(s.Env, c.env...)
				r := rand.New(rand.NewPCG(36, uint64(part)))
				for n := range amount(2, 50) {
					s.strike(n, "guard", r)
				}
				s.allDone()
			})
		}
	}
}

func TestKill_agentsWithDaemons_noneIsLeftAndNoTaskIsLost(t *testing.T) {
	world.Long(t, "runs that are killed")
	for _, how := range []string{"agent", "ralph", "TERM"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newFoster(t, "fosters", 10)
			r := rand.New(rand.NewPCG(37, 0))
			for n := range amount(2, 50) {
				s.strike(n, how, r)
			}
			s.allDone()
		})
	}
}

func TestTmux_paneOfAnAgentWithDaemonsClosed_noneIsLeft(t *testing.T) {
	world.Long(t, "tmux servers")
	t.Parallel()
	s := newFoster(t, "fosters", 10)
	s.withTmux()
	for range amount(2, 50) {
		if s.open() == 0 {
			s.refill(10)
		}
		fostered := len(s.entries("fostered"))
		if out, code := s.tmux("new-session", "-d", "-x", "100", "-y", "30", "exec ralph"); code != 0 {
			t.Fatal(out)
		}
		s.Until("a call", func() bool { return len(s.entries("fostered")) > fostered })
		s.tmux("kill-pane")
		s.slowest = max(s.slowest, s.NoneLeft(leftBound+2*time.Second)) // the daemons get their time, as at SIGHUP
		s.moments, s.calls = s.moments+1, s.calls+1
	}
	s.allDone()
}
