//go:build linux

package faults

import (
	"os"
	"os/exec"
	"ralph/internal/world"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTerminal_closedDuringACall_endsTheRunInOrder(t *testing.T) {
	t.Parallel()
	s := newSiege(t, "worker")
	for i, m := range moments(7, amount(3, 100), "close terminal", syscall.SIGHUP) {
		m.early, m.file = false, ""
		was := s.look()
		p, master := s.OnTerminal("ralph", [][]string{nil, {"--live"}}[i%2]...)
		s.await(p, m, was.calls, nil)
		master.Close()
		p.Ends(143)
		p.Forget()
		s.examine(m, was)
	}
	s.report()
}

// withTmux gives the project a tmux server of its own.
func (w *project) withTmux() {
	w.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		w.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "rf") // a socket's path must be short
	w.Do(err)
	w.Set("TMUX_TMPDIR", dir)
	w.Set("TERM", "xterm-256color")
	w.Cleanup(func() {
		_, _ = w.tmux("kill-server")
		os.RemoveAll(dir)
	})
}

func (w *project) tmux(args ...string) (string, int) {
	out, code := w.Run(append([]string{"tmux", "-f", "/dev/null"}, args...)...)
	return strings.TrimSpace(out), code
}

// killTmux kills the server in the hardest way.
func (w *project) killTmux() {
	w.Helper()
	text, _ := w.tmux("display-message", "-p", "#{pid}")
	pid, err := strconv.Atoi(text)
	if err != nil || pid < 2 {
		w.Fatalf("tmux names its server %q", text)
	}
	w.Do(syscall.Kill(pid, syscall.SIGKILL))
}

func TestTmux_serverKilled_endsTheRunInOrder(t *testing.T) {
	world.Long(t, "tmux servers that are killed")
	t.Parallel()
	s := newSiege(t, "worker")
	s.withTmux()
	for range amount(2, 30) {
		was := s.look()
		if out, code := s.tmux("new-session", "-d", "-x", "100", "-y", "30", "exec ralph"); code != 0 {
			t.Fatal(out)
		}
		s.Until("a call", func() bool { return len(s.entries("call")) > was.calls })
		s.killTmux()
		s.examine(moment{how: "kill tmux"}, was)
		if st, _ := s.state().Status(); st.ExitCode != 143 || st.Status != "stopped" {
			t.Errorf("status.json says %s with exit code %d", st.Status, st.ExitCode)
		}
	}
	s.report()
}

func TestTmux_serverOfTheMonitorSplitKilled_endsBothRalphs(t *testing.T) {
	world.Long(t, "tmux servers that are killed")
	t.Parallel()
	s := newSiege(t, "worker")
	s.withTmux()
	for range amount(1, 10) {
		was := s.look()
		p, _ := s.OnTerminal("ralph", "--monitor")
		s.Until("a call", func() bool { return len(s.entries("call")) > was.calls })
		s.killTmux()
		if code := p.Wait(10 * time.Second); code != 143 {
			t.Errorf("the outer ralph ended with %d, want 143:\n%s", code, p.Said())
		}
		s.examine(moment{how: "kill tmux"}, was)
	}
	s.report()
}
