package ptyexec

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// guardOf waits for the spare's guard and returns its pid.
func guardOf(t *testing.T, s *Spare) (pid int) {
	t.Helper()
	eventually(t, captureBound, "the spare guard is there", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ready != nil {
			pid = s.ready.guard.Pid
		}
		return pid != 0
	})
	return pid
}

func TestSpare_nextCommandRunsUnderIt(t *testing.T) {
	var spare Spare
	defer spare.Close()
	parent := []string{"sh", "-c", "echo pid $PPID; stty size </dev/tty; exec cat"}
	first, out := capture(t, Command{Args: parent, Spare: &spare, Stdin: strings.NewReader("one")})
	if first.Code != 0 || !strings.HasSuffix(out, "\n24 80\none") {
		t.Errorf("first: got %+v, %q", first, out)
	}
	guard := guardOf(t, &spare)
	for range 2 {
		exit, out := capture(t, Command{Args: parent, Spare: &spare, Size: Size{40, 100}})
		if exit.Code != 0 || printedPids(t, out)[0] != guard || !strings.HasSuffix(out, "\n40 100\n") {
			t.Errorf("guard %d: got %+v, %q", guard, exit, out)
		}
		guard = guardOf(t, &spare)
	}
	_, out = capture(t, Command{Args: parent, Spare: &spare, Pipe: true})
	if strings.Contains(out, "40 100") {
		t.Errorf("pipe: got %q", out)
	}
}

func TestSpare_killedWhileItWaits_isReplaced(t *testing.T) {
	var spare Spare
	defer spare.Close()
	capture(t, Command{Args: []string{"/bin/true"}, Spare: &spare})
	pid := guardOf(t, &spare)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	_, _ = syscall.Wait4(pid, nil, 0, nil) // its pipes are closed only now
	if exit, out := capture(t, Command{Args: self("lines", "1"), Spare: &spare}); exit.Code != 0 || out != "line 0\n" {
		t.Errorf("got %+v, %q", exit, out)
	}
}

func TestSpare_closed_leavesNothing(t *testing.T) {
	capture(t, Command{Args: []string{"/bin/true"}}) // what the runtime opens once stays
	before := openFiles(t)
	var spare Spare
	for range 3 {
		capture(t, Command{Args: []string{"/bin/true"}, Spare: &spare})
	}
	spare.Close()
	if exit, _ := capture(t, Command{Args: self("exit", "2"), Spare: &spare}); exit.Code != 2 {
		t.Errorf("after Close: got %+v", exit)
	}
	spare.Close()
	if after := openFiles(t); after > before {
		t.Errorf("open descriptors: %d before, %d after", before, after)
	}
	if left := descendants(os.Getpid()); len(left) != 0 {
		t.Errorf("children left: %v", left)
	}
}
