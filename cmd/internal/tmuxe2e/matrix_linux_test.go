package tmuxe2e

import (
	"fmt"
	"ralph/internal/world"
	"slices"
	"strings"
	"testing"
)

// Each pair of properties of a start occurs in at least one row.
func TestMonitor_anyStart_runsToItsEndBesideTheMonitor(t *testing.T) {
	world.Long(t, "each kind of start")
	for _, c := range []struct {
		inside, server bool
		index          int
		size           [2]int
		name           string
	}{
		{false, false, 0, narrow, "plain"},
		{false, false, 1, large, `quo'te "two"`},
		{false, true, 0, large, "semi;colon;"},
		{false, true, 1, usual, "with a space"},
		{false, false, 0, usual, "ha#{pane_id}#S #[fg=red]"},
		{false, true, 1, narrow, "bücher 漢字🙂"},
		{true, true, 0, usual, `$HOME ~ \ %1 ;`},
		{true, true, 1, large, "it's #1; ü"},
		{true, true, 0, narrow, "-x =y"},
	} {
		where := map[bool]string{true: "inside tmux", false: "outside"}[c.inside]
		t.Run(fmt.Sprintf("%s, server %v, base %d, %dx%d, %s", where, c.server, c.index, c.size[0], c.size[1], strings.ReplaceAll(c.name, "/", "")), func(t *testing.T) {
			t.Parallel()
			w := newHome(t, fmt.Sprintf("set -g base-index %d\nset -g pane-base-index %d\n", c.index, c.index))
			p := w.project(c.name, modeWork)
			if c.server && !c.inside {
				w.tmux("new-session", "-d", "-s", "mine", "cat")
			}
			if c.inside {
				runInside(p, c.size)
			} else {
				runOutside(p, c.size, c.server)
			}
		})
	}
}

func runOutside(p *project, size [2]int, server bool) {
	p.Helper()
	s := p.monitored(size)
	checkPanes(p, size)
	s.shows("RUNNING")
	p.mode(modeDone)
	p.is("completed")
	s.quits("COMPLETED", 0)
	s.said("ralph: completed, not proven: no check ran", "ralph: why: ", "rule complete, exit code 0")
	want := map[bool][]string{true: {"mine"}}[server]
	if left := p.sessions(); !slices.Equal(left, want) {
		p.Errorf("the sessions left are %q, want %q", left, want)
	}
}

func runInside(p *project, size [2]int) {
	p.Helper()
	s := p.terminal(p.dir, size, "tmux", "new-session", "-s", "mine", "sh", "-c", `ralph --monitor; echo "ended with $?"; read answer`)
	_, monitor := checkPanes(p, size)
	if active := p.tmux("display-message", "-p", "#{pane_id}"); active != monitor {
		p.Errorf("the focus is in %s, not in the monitor's pane %s", active, monitor)
	}
	s.shows("RUNNING")
	p.mode(modeDone)
	p.is("completed")
	s.shows("COMPLETED", "ended with 0")
	p.tmux("send-keys", "-t", monitor, "q")
	s.hides("COMPLETED")
	p.Until("end of the monitor's pane", func() bool { p.reap(); return !strings.Contains(p.try("list-panes", "-F", "#{pane_id}"), monitor) })
	s.keys("Enter")
	s.Until("end of the session", func() bool { p.reap(); return len(p.sessions()) == 0 })
	s.exits(0)
}

// checkPanes looks at the split while an agent works in it.
func checkPanes(p *project, size [2]int) (runner, monitor string) {
	p.Helper()
	got := p.working()
	if got.Dir != p.dir {
		p.Errorf("the agent works in %q, want %q", got.Dir, p.dir)
	}
	runner, monitor = p.panes()
	left := p.tmux("display-message", "-p", "-t", monitor, "#{pane_left}")
	if beside := left != "0"; beside != (size[0] >= 100) {
		p.Errorf("%d columns wide, the monitor is at column %s", size[0], left)
	}
	if at := p.tmux("display-message", "-p", "-t", runner, "#{pane_at_left}#{pane_at_bottom}"); at != "11" {
		p.Errorf("the runner is neither to the left nor below: %s", at)
	}
	return runner, monitor
}

func TestMonitor_twoProjectsOfOneName_runSideBySideInSessionsOfTheirOwn(t *testing.T) {
	world.Long(t, "two runs in tmux")
	t.Parallel()
	w := newHome(t, "")
	a, b := w.project("one/shop", modeWork), w.project("two/shop", modeWork)
	sa := a.monitored(usual)
	sb := b.monitored(large)
	a.working()
	b.working()
	if names := w.sessions(); len(names) != 2 || !strings.HasPrefix(names[0], "ralph-shop-") || !strings.HasPrefix(names[1], "ralph-shop-") {
		t.Errorf("the sessions are %q", names)
	}
	if out, code := a.ralph("abort"); code != 0 {
		t.Fatalf("abort: %s", out)
	}
	a.is("stopped")
	sa.quits("STOPPED", 130)
	b.goesOn()
	b.mode(modeDone)
	b.is("completed")
	sb.quits("COMPLETED", 0)
}
