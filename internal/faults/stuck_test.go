//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

// git waits for ever for somebody to write into a pipe.
func TestGitHangs_whoeverEndsTheRun_isObeyedAndNothingIsLeft(t *testing.T) {
	world.Long(t, "waits for a git that hangs")
	for name, c := range map[string]struct {
		end  func(w *project, p *world.Process)
		code int
	}{
		"kill -9": {func(_ *project, p *world.Process) { kill(p.Process.Pid, syscall.SIGKILL) }, 137},
		"SIGTERM": {func(_ *project, p *world.Process) { kill(p.Process.Pid, syscall.SIGTERM) }, 143},
		"abort":   {func(w *project, _ *world.Process) { w.Run("ralph", "abort") }, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, "pipe-gitignore", 2)
			p := w.ralph()
			w.Until("git at work", func() bool { s, err := w.state().Status(); return err == nil && s.Phase == "observing" }, p.Said)
			c.end(w, p)
			if code := p.Wait(15 * time.Second); code != c.code {
				t.Errorf("ended with %d, want %d:\n%s", code, c.code, p.Said())
			}
			w.NoneLeft(leftBound)
		})
	}
}

func TestLockDeletedDuringACall_noSecondRunnerStarts(t *testing.T) {
	world.Long(t, "a second runner")
	t.Parallel()
	w := newProject(t, "deletes-lock", 2)
	p := w.ralph()
	w.Until("the lock to be deleted and taken again", func() bool {
		_, err := os.Stat(filepath.Join(w.Dir, "deleted"))
		_, alive := w.state().Owner()
		return err == nil && alive
	}, p.Said)
	if said, code := w.Run("ralph", "once"); code != 5 {
		t.Errorf("a second start ended with %d:\n%s", code, said)
	}
	kill(p.Process.Pid, syscall.SIGTERM)
	p.Ends(143)
}

func TestHangup_ignoredByWhoeverStartedIt_endsNothing(t *testing.T) {
	t.Parallel()
	w := newProject(t, "silent", 1)
	p := w.Start("sh", "-c", `trap "" HUP; exec ralph`)
	w.Until("a call", func() bool { return len(w.entries("call")) == 1 }, p.Said)
	kill(p.Process.Pid, syscall.SIGHUP)
	kill(p.Process.Pid, syscall.SIGTERM)
	p.Ends(143)
	if s, err := w.state().Status(); err != nil || s.Reason != "SIGTERM" {
		t.Errorf("reason %q, %v", s.Reason, err)
	}
}
