package tmuxe2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ralph/internal/world"
)

func TestMonitor_runEnds_theRunnersExitCodeAndReasonAreReturned(t *testing.T) {
	for _, c := range []struct {
		mode, verb string
		args       []string
		code       int
		status     string
		said       string
	}{
		{modeIdle, "", nil, 3, "halted", "rule stagnation"},
		{modeIdle, "", []string{"--max-iterations", "1"}, 4, "stopped", "made 1 iteration, as many as are allowed"},
		{modeClaim, "", nil, 8, "stopped", "0 of 2 tasks done"},
		{modeWork, "abort", nil, 130, "stopped", "ralph abort"},
	} {
		t.Run(strconv.Itoa(c.code), func(t *testing.T) {
			t.Parallel()
			p := newHome(t, "").project("project", c.mode)
			s := p.monitored(usual, c.args...)
			if c.verb != "" {
				p.working()
				p.ralph(c.verb)
			}
			p.is(c.status)
			s.shows(strings.ToUpper(c.status))
			s.keys("q")
			s.exits(c.code)
			s.said("ralph: "+c.status+" after ", "exit code "+strconv.Itoa(c.code), c.said)
		})
	}
}

func TestMonitor_startUpError_isReadableAndItsCodeReturned(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *project) // before ralph starts
		code int
		said string
	}{
		{"no prompt", func(p *project) { os.Remove(filepath.Join(p.dir, ".ralph", "PROMPT.md")) }, 2, "ralph init"},
		{"broken plan", func(p *project) {
			os.Remove(filepath.Join(p.dir, ".ralph", "fix_plan.md"))
			p.Write("project/prd.json", "{broken")
		}, 2, "the plan cannot be used"},
		{"no agent", func(p *project) { p.Set("CLAUDE_CODE_CMD", "no-such-agent") }, 6, `"no-such-agent" is not an executable on PATH`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newHome(t, "").project("project", modeWork)
			c.do(p)
			s := p.monitored(usual)
			s.exits(c.code)
			s.said("ralph: ", c.said)
		})
	}
}

// What breaks while tmux starts is seen by the inner runner only: here the
// tmux program does something first.
func TestMonitor_startUpErrorOfTheInnerRunner_outlivesItsPane(t *testing.T) {
	world.Long(t, "tmux")
	for _, c := range []struct {
		name, first string
		code        int
		said        string
	}{
		{"plan broken", `rm .ralph/PROMPT.md`, 2, "no prompt"},
		{"locked", `ralph run >run.log 2>&1 & until test -s .ralph/agent.pids; do sleep 0.05; done`, 5, "another ralph is running in this project: pid "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newHome(t, "")
			p := w.project("project", modeWork)
			real, err := exec.LookPath("tmux")
			if err != nil {
				t.Fatal(err)
			}
			w.Write("bin/tmux", "#!/bin/sh\ncase \"$*\" in *start-server*) cd "+p.dir+"\ntest -e done || { >done\n"+c.first+"\n} ;; esac\nexec "+real+" \"$@\"\n")
			if err := os.Chmod(w.Path("bin/tmux"), 0o755); err != nil {
				t.Fatal(err)
			}
			s := p.monitored(usual)
			s.shows("q quit", c.said)
			s.keys("q")
			s.exits(c.code)
			s.said(c.said)
			if c.code == 5 {
				p.ralph("abort")
				p.is("stopped")
			}
		})
	}
}

func TestMonitor_killedWhileItRuns_endsAsDocumentedAndIsResumable(t *testing.T) {
	world.Long(t, "each way to be killed")
	kill := func(p *project, pid string) {
		n, err := strconv.Atoi(strings.TrimSpace(pid))
		if err == nil {
			err = syscall.Kill(n, syscall.SIGKILL)
		}
		if err != nil {
			p.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func(p *project)
	}{
		{"runner's pane", func(p *project) { runner, _ := p.panes(); p.tmux("kill-pane", "-t", runner) }},
		{"session", func(p *project) { p.tmux("kill-session", "-t", "="+p.sessions()[0]) }},
		{"server", func(p *project) { p.tmux("kill-server") }},
		{"server, with SIGKILL", func(p *project) { kill(p, p.tmux("display-message", "-p", "#{pid}")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newHome(t, "").project("project", modeWork)
			s := p.monitored(usual)
			p.working()
			p.panes()
			c.do(p)
			s.exitsAfterQuit(143)
			s.said("the terminal was closed", "rule interrupted, exit code 143")
			if lines := strings.Split(s.all(), "\n"); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "ralph: why: ") }) {
				t.Errorf("the terminal is not restored:\n%s", s.all())
			}
			if got := p.is("stopped"); got.ExitCode != 143 || got.Why != "interrupted" || !strings.Contains(got.Reason, "SIGHUP") {
				t.Errorf("status.json says %+v", got)
			}
			if left := p.agents(); len(left) > 0 {
				t.Errorf("processes of the agent are left: %v", left)
			}
			p.mode(modeDone)
			if out, code := p.ralph("resume"); code != 0 {
				t.Errorf("ralph resume ended with %d: %s", code, out)
			}
			if got := p.status(); got.Status != "completed" {
				t.Errorf("the resumed run is %+v", got)
			}
		})
	}
}

// exitsAfterQuit also leaves the monitor, where it is still there.
func (s *terminal) exitsAfterQuit(code int) {
	s.Helper()
	s.Until("end", func() bool {
		if strings.Contains(s.screen(), "q quit") {
			s.keys("q")
		}
		return strings.HasPrefix(s.try("-L", "outer", "display-message", "-p", "-t", s.id, "#{pane_dead}"), "1")
	}, s.screen)
	s.exits(code)
}

func TestMonitor_monitorPaneKilled_runnerGoesOnAndTheSessionEndsWithIt(t *testing.T) {
	world.Long(t, "panes that are killed")
	t.Parallel()
	p, s := running(t, "project")
	_, monitor := p.panes()
	p.tmux("kill-pane", "-t", monitor)
	s.hides("RUNNING")
	p.goesOn()
	p.mode(modeDone)
	s.exits(0)
	s.said("ralph: completed, not proven: no check ran")
	if left := p.sessions(); len(left) > 0 {
		t.Errorf("sessions left: %q", left)
	}
}

func TestMonitor_insideTmuxAndTheWindowIsKilled_theRunIsEndedAndRecorded(t *testing.T) {
	world.Long(t, "windows that are killed")
	t.Parallel()
	p := newHome(t, "").project("project", modeWork)
	s := p.terminal(p.dir, usual, "tmux", "new-session", "-s", "mine", "ralph", "--monitor")
	p.working()
	p.panes()
	p.tmux("kill-window", "-t", "=mine:")
	s.exits(0) // tmux's own
	if got := p.is("stopped"); got.ExitCode != 143 || len(p.agents()) > 0 {
		t.Errorf("status.json says %+v, alive are %v", got, p.agents())
	}
}

func TestMonitor_detached_saysHowToComeBackAndTheRunGoesOn(t *testing.T) {
	world.Long(t, "a client that comes and goes")
	t.Parallel()
	p, s := running(t, "it's mine")
	s.keys("C-b", "d")
	s.exits(0)
	back := regexp.MustCompile(`come back with: (.*\S)`)
	said := back.FindStringSubmatch(s.all())
	if said == nil {
		t.Fatalf("it does not say how to come back:\n%s", s.all())
	}
	p.goesOn()
	again := p.monitored(usual)
	again.exits(5)
	again.said("another ralph is running in this project: pid "+strconv.Itoa(p.status().PID), "watch it with: "+said[1])
	s = p.terminal(p.dir, large, "sh", "-c", said[1])
	s.shows("RUNNING", "q quit")
	p.mode(modeDone)
	s.shows("COMPLETED")
	s.keys("C-b", "d")
	s.exits(0)
	// A session whose run is over gives way to the next run.
	p.Write("it's mine/.ralph/fix_plan.md", "- [ ] a third task\n")
	p.mode(modeWork)
	s = p.monitored(usual)
	p.working()
	s.shows("RUNNING")
	if names := p.sessions(); len(names) != 1 {
		t.Errorf("the sessions are %q", names)
	}
	p.mode(modeDone)
	s.quits("COMPLETED", 0)
}

func TestMonitor_itsTerminalVanishes_theRunGoesOn(t *testing.T) {
	world.Long(t, "a terminal that vanishes")
	t.Parallel()
	p, _ := running(t, "project")
	p.tmux("-L", "outer", "kill-server")
	p.Until("end of the client", func() bool { return p.try("list-clients") == "" })
	p.goesOn()
	p.mode(modeDone)
	p.is("completed")
	p.Until("removal of the report", func() bool { left, _ := filepath.Glob(filepath.Join(p.Home, "ralph-report-*")); return len(left) == 0 })
}

func TestMonitor_outerRalphTerminated_leavesTheTerminalToTheShell(t *testing.T) {
	world.Long(t, "a ralph that is ended")
	t.Parallel()
	p, s := running(t, "project")
	pid, err := strconv.Atoi(strings.TrimSpace(p.try("-L", "outer", "display-message", "-p", "-t", s.id, "#{pane_pid}")))
	p.Do(err)
	p.Do(syscall.Kill(pid, syscall.SIGTERM))
	s.exits(143)
	s.said("detached: the run continues")
	p.goesOn()
	p.mode(modeDone)
	p.is("completed")
}

func TestMonitor_noUsableTmux_runsWithoutAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		said string
	}{
		{"dumb terminal", []string{"TERM=dumb"}, `the terminal is "dumb"`},
		{"tmux that is gone", []string{"TMUX=/nowhere,1,0", "TMUX_PANE=%0"}, "no tmux server is running"},
		{"no tmux", []string{"PATH=" + "/nowhere"}, "tmux is not installed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newHome(t, "")
			p := w.project("project", modeDone)
			env := append([]string{"env"}, c.env...)
			if c.name == "no tmux" {
				env[1] = "PATH=" + w.Path("bin")
			}
			s := p.terminal(p.dir, usual, append(env, filepath.Join(world.Programs(t), "ralph"), "--monitor")...)
			s.exits(0)
			s.said("no tmux split: ", c.said, "the run continues without", "ralph: completed, not proven: no check ran")
		})
	}
}
