//go:build linux

package faults

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// onTerminal starts a program as the leader of a terminal's session. master is
// the other end, which is read all the time.
func (w *world) onTerminal(program string, args ...string) (p *process, master *os.File) {
	w.t.Helper()
	p = w.prepare(program, args...)
	master, slave, err := pty.Open()
	if err != nil {
		w.t.Fatal(err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		w.t.Fatal(err)
	}
	p.Stdin, p.Stdout, p.Stderr = slave, slave, slave
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.launch()
	w.t.Cleanup(func() { master.Close() })
	go func() { _, _ = io.Copy(p.out, master) }()
	return p, master
}

func TestTerminal_closedDuringACall_endsTheRunInOrder(t *testing.T) {
	s := newSiege(t, "worker")
	for i, m := range moments(7, amount(3, 100), "close terminal", syscall.SIGHUP) {
		m.early, m.file = false, ""
		count, hour := s.counted()
		calls := len(s.entries("call"))
		if s.open() < 20 {
			s.refill(40)
		}
		p, master := s.onTerminal("ralph", [][]string{nil, {"--live"}}[i%2]...)
		s.await(p, m, calls, nil)
		master.Close()
		p.ends(143)
		p.out.Close()
		s.slowest = max(s.slowest, s.goneWithin(leftBound))
		s.moments++
		s.examine(m, count, hour, calls)
	}
	s.report()
}

// tmuxWorld has a tmux server of its own.
func (w *world) withTmux() {
	w.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		w.t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "rf") // a socket's path must be short
	if err != nil {
		w.t.Fatal(err)
	}
	w.set("TMUX_TMPDIR", dir)
	w.set("TERM", "xterm-256color")
	w.t.Cleanup(func() {
		_, _ = w.tmux("kill-server")
		os.RemoveAll(dir)
	})
}

func (w *world) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-f", "/dev/null"}, args...)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// killTmux kills the server in the hardest way.
func (w *world) killTmux() {
	w.t.Helper()
	text, err := w.tmux("display-message", "-p", "#{pid}")
	pid, bad := strconv.Atoi(text)
	if err != nil || bad != nil || pid < 2 {
		w.t.Fatalf("tmux names its server %q: %v", text, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
}

func TestTmux_serverKilled_endsTheRunInOrder(t *testing.T) {
	s := newSiege(t, "worker")
	s.withTmux()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for range amount(2, 30) {
		count, hour := s.counted()
		calls := len(s.entries("call"))
		s.refill(40)
		if out, err := s.tmux("new-session", "-d", "-x", "100", "-y", "30", "exec "+filepath.Join(bin, "ralph")); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s.until("a call", func() bool { return len(s.entries("call")) > calls })
		s.killTmux()
		s.slowest = max(s.slowest, s.goneWithin(leftBound))
		s.moments++
		s.examine(moment{how: "kill tmux"}, count, hour, calls)
		if st, _ := s.state().Status(); st.ExitCode != 143 || st.Status != "stopped" {
			t.Errorf("status.json says %s with exit code %d", st.Status, st.ExitCode)
		}
	}
	s.report()
}

func TestTmux_serverOfTheMonitorSplitKilled_endsBothRalphs(t *testing.T) {
	s := newSiege(t, "worker")
	s.withTmux()
	for range amount(1, 10) {
		count, hour := s.counted()
		calls := len(s.entries("call"))
		s.refill(40)
		p, _ := s.onTerminal("ralph", "--monitor")
		s.until("a call", func() bool { return len(s.entries("call")) > calls })
		s.killTmux()
		if code := p.wait(10 * time.Second); code != 143 {
			t.Errorf("the outer ralph ended with %d, want 143:\n%s", code, p.said())
		}
		s.slowest = max(s.slowest, s.goneWithin(leftBound))
		s.moments++
		s.examine(moment{how: "kill tmux"}, count, hour, calls)
	}
	s.report()
}
