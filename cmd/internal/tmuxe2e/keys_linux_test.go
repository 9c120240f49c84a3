package tmuxe2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
)

// One evening with the monitor: the keys that act on the runner, each with what
// the runner really did.
func TestMonitor_keysThatActOnTheRunner_doSo(t *testing.T) {
	world.Long(t, "every key in tmux")
	t.Parallel()
	p := newHome(t, "").project("project", modeWork)
	p.Write("project/.ralph/fix_plan.md", "- [ ] first task\n- [ ] second task\n- [ ] third task\n")
	s := p.monitored([2]int{120, 40})
	p.working()
	s.shows("RUNNING", "0/3 done", "first task", "needle-")

	// s: this call ends, the next task is taken, the skipped one comes last.
	before := p.agents()
	s.keys("s")
	s.shows("end this iteration and take the next task?")
	s.keys("y")
	p.Until("second task", func() bool {
		return p.status().Task.Title == "second task" && len(p.agents()) > 0 && p.agents()[0] != before[0]
	})
	s.shows("second task")

	// p: after this iteration there is no other until it is pressed again.
	s.keys("p")
	s.shows("to pause")
	p.Until("end of the request", func() bool {
		left, _ := filepath.Glob(filepath.Join(p.dir, ".ralph", "control", "*"))
		return len(left) == 0
	})
	p.mode(modeNext)
	p.is("paused")
	s.shows("PAUSED", "p resume")
	loops := p.status().Loops
	if agents := p.agents(); len(agents) > 0 {
		t.Errorf("paused, and agents work: %v", agents)
	}
	s.keys("p")
	p.is("running")
	p.working()
	s.shows("RUNNING", "p pause")
	if got := p.status().Loops; got != loops {
		t.Errorf("%d iterations were made in the pause", got-loops)
	}

	quitAndAbort(p, s)
}

// quitAndAbort leaves the monitor and ends the run from another one.
func quitAndAbort(p *project, s *terminal) {
	p.Helper()
	// q: leaves the screen, never the run. Another monitor may come.
	_, monitor := p.panes()
	s.keys("q")
	s.hides("q quit")
	p.Until("end of the monitor's pane", func() bool { return !strings.Contains(p.try("list-panes", "-a", "-F", "#{pane_id}"), monitor) })
	p.goesOn()
	other := p.terminal(p.dir, usual, "ralph", "monitor")
	other.shows("RUNNING", "needle-59")

	// a: asked once; anything but y is no.
	other.keys("a")
	other.shows("end the run now")
	other.keys("n")
	other.hides("end the run now")
	if got := p.status(); got.Status != "running" {
		p.Errorf("not aborted, and the run is %+v", got)
	}
	other.keys("a")
	other.shows("end the run now")
	other.keys("y")
	p.is("stopped")
	other.shows("STOPPED")
	s.exits(130)
	s.said("stopped after ", "exit code 130")
	if agents := p.agents(); len(agents) > 0 {
		p.Errorf("aborted, and agents work: %v", agents)
	}
	other.keys("p")
	other.shows("no runner is alive here")
	other.keys("q")
	other.exits(0)
}

// The keys run ralph itself, whichever program shows the screen, and also where ralph
// is not in PATH.
func TestMonitor_eachEntry_controlsTheRunner(t *testing.T) {
	world.Long(t, "each entry in tmux")
	t.Parallel()
	p, s := running(t, "project")
	programs := world.Programs(t)
	alone := t.TempDir() + "/ralph-monitor" // ralph is not beside it, but on PATH
	if data, err := os.ReadFile(programs + "/ralph-monitor"); err != nil || os.WriteFile(alone, data, 0o755) != nil {
		t.Fatal("no copy of ralph-monitor:", err)
	}
	linked := t.TempDir() + "/ralph-monitor" // ralph is neither beside the link nor on PATH
	if err := os.Symlink(programs+"/ralph-monitor", linked); err != nil {
		t.Fatal(err)
	}
	for _, entry := range [][]string{{"ralph", "monitor"}, {programs + "/ralph-monitor"}, {"env", "PATH=/usr/bin:/bin", programs + "/ralph-monitor"},
		{"env", "PATH=" + filepath.Dir(linked) + ":/usr/bin:/bin", "ralph-monitor"}, {alone}} {
		m := p.terminal(p.dir, usual, entry...)
		m.shows("RUNNING", "p pause")
		m.keys("p")
		m.shows("to pause")
		m.shows("pause requested")
		m.keys("p")
		m.shows("to resume")
		m.hides("pause requested")
		m.keys("q")
		m.exits(0)
	}
	s.keys("p")
	s.shows("to pause")
	before := p.agents()
	m := p.terminal(p.dir, usual, programs+"/ralph-monitor")
	m.keys("s", "y")
	p.Until("end of the call", func() bool { return !slices.Contains(p.agents(), before[0]) })
	p.is("paused")
	m.shows("PAUSED", "skipped")
	m.keys("a", "y")
	p.is("stopped")
	s.quits("STOPPED", 130)
}

func TestMonitor_keysThatLook_showWhatTheRunnerWrites(t *testing.T) {
	world.Long(t, "every key in tmux")
	t.Parallel()
	w := newHome(t, "")
	w.Write("pager", "#!/bin/sh\ncat \"$1\"\necho \"PAGER ENDS $(wc -l <\"$1\")\"; read answer\n")
	if err := os.Chmod(w.Path("pager"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.Set("PAGER", w.Path("pager"))
	p := w.project("project", modeWork)
	s := p.monitored([2]int{130, 40})
	p.working()
	s.shows("RUNNING", "following", "needle-59", " usage ")

	moveInLog(s)
	showPages(s)

	// A second iteration, so that there is something to choose from.
	p.mode(modeNext)
	p.Until("second iteration", func() bool { return p.status().Loops == 1 && len(p.agents()) > 0 })
	s.shows("2 ●") // the monitor reads later than this test does
	openPager(s)
	s.keys("M")
	s.shows("mouse on")
	s.keys("M")
	s.shows("mouse off")
	s.keys("?")
	s.shows("pause after this iteration")
	s.keys("G")
	s.shows("quit this screen; the run continues")
	s.keys("?")
	s.shows(" usage ")
	p.mode(modeDone)
	p.is("completed")
	s.shows("COMPLETED", "2/2 done")
	s.keys("q")
	s.exits(0)
}

func moveInLog(s *terminal) {
	s.Helper()
	s.keys("l")
	s.hides(" usage ")
	s.shows("needle-59", "needle-45")
	s.keys("g")
	s.shows("scrolled back", "needle-00")
	s.keys("j", "j", "k")
	s.shows("needle-02")
	s.keys("G")
	s.shows("following", "needle-59")
	s.keys("f")
	s.shows("scrolled back")
	s.keys("f")
	s.shows("following")
	s.keys("/")
	s.keys("-l", "needle-1")
	s.keys("Enter")
	s.shows("needle-19")
	for range 9 {
		s.keys("n")
	}
	s.shows("needle-10")
	s.hides("needle-40")
	for range 9 {
		s.keys("N")
	}
	s.shows("needle-19")
	s.keys("G")
	s.shows("needle-59")
	s.keys("w")
	s.shows("unwrapped")
	s.keys("w", "l")
	s.hides("unwrapped")
	s.shows(" usage ")
}

func showPages(s *terminal) {
	s.Helper()
	for key, title := range map[string]string{"t": "t Tasks", "c": "c Checks and findings", "T": "T Timeline"} {
		s.keys(key)
		s.shows(title)
		s.hides(" usage ")
		s.keys("Escape")
		s.shows(" usage ", "l Live log")
	}
}

func openPager(s *terminal) {
	s.Helper()
	s.keys("o")
	s.shows("PAGER ENDS")
	s.keys("Enter")
	s.shows(" usage ", "RUNNING")
}
