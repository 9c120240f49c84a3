package ptyexec

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRun_guardKilledByTheChild_isAnErrorAndTheChildDies(t *testing.T) {
	t.Parallel()
	_, out, err := try(t, Command{Args: self("parricide", "9")})
	if err == nil || !strings.Contains(err.Error(), "guard of") {
		t.Errorf("got error %v", err)
	}
	wantGone(t, printedPids(t, out))
}

func TestRun_guardStoppedByTheChild_endsInABound(t *testing.T) {
	t.Parallel()
	const grace = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	var begin time.Time
	_, err := Run(ctx, Command{Args: self("parricide", "19"), KillGrace: grace, Timeout: time.Minute}, func(p []byte) bool {
		out.Write(p)
		if begin.IsZero() && strings.Count(out.String(), "\n") == 2 {
			child, err := stat(printedPids(t, out.String())[1])
			eventually(t, captureBound, "the guard is stopped", func() bool {
				guard, err2 := stat(child.parent)
				return err == nil && err2 == nil && guard.state == "T"
			})
			begin = time.Now()
			cancel()
		}
		return false
	})
	if err == nil || !strings.Contains(err.Error(), "guard of") {
		t.Errorf("got error %v", err)
	}
	if d := time.Since(begin); d > grace+giveUpAfter+15*time.Second {
		t.Errorf("took %v", d)
	}
	for _, pid := range printedPids(t, out.String()) { // nobody is left to wait for them: the kernel ends them when the guard is gone
		eventually(t, time.Second, "the end of what the guard had started", func() bool { return gone(pid) })
	}
}

func TestRun_guardGetsEverySignalThatCanBeCaught_goesOn(t *testing.T) {
	t.Parallel()
	script := `for s in HUP INT QUIT TERM USR1 USR2 ALRM TSTP TTIN TTOU; do kill -$s $PPID; done; sleep 0.1; echo done; exit 5`
	exit, out := capture(t, Command{Args: []string{"sh", "-c", script}})
	if exit.Code != 5 || out != "done\n" {
		t.Errorf("got %+v, %q", exit, out)
	}
}

func TestRun_runnerKilledWith9_childAndItsDescendantsDie(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		pids int
	}{
		{"grandchild in a session of its own", []string{"parent", "setsid", "stay"}, 1},
		{"daemon with an empty environment", []string{"parent", "daemon", "stay"}, 1},
		{"child that ignores TERM", []string{"parent", "plain", "ignore"}, 1},
		{"a runner inside the child", []string{"runner", "parent", "setsid", "ignore"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			argv := self("runner", tt.args...)
			runner := exec.Command(argv[0], argv[1:]...)
			out, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			runner.Stdout, runner.Stderr = w, os.Stderr
			if err := runner.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			var text bytes.Buffer
			for buf := make([]byte, 4096); strings.Count(text.String(), "pid ") < tt.pids || !strings.HasSuffix(text.String(), "\n"); {
				n, err := out.Read(buf)
				if err != nil {
					t.Fatalf("read: %v after %q", err, text.String())
				}
				text.Write(buf[:n])
			}
			pids := append(printedPids(t, text.String()), descendants(runner.Process.Pid)...)
			if len(pids) < 1+tt.pids {
				t.Fatalf("found only %v", pids)
			}
			_ = runner.Process.Kill()
			_ = runner.Wait()
			eventually(t, captureBound, "all processes are gone", func() bool {
				for _, pid := range pids {
					if !gone(pid) {
						return false
					}
				}
				return true
			})
		})
	}
}

func TestRun_runnerStoppedAndGuardKilled_kernelKillsTheChild(t *testing.T) {
	t.Parallel()
	argv := self("runner", "stubborn")
	runner := exec.Command(argv[0], argv[1:]...)
	out, err := runner.StdoutPipe()
	if err == nil {
		err = runner.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = runner.Process.Kill()
		_ = runner.Wait()
	}()
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	_ = runner.Process.Signal(syscall.SIGSTOP)
	pids := descendants(runner.Process.Pid) // guard, child
	if len(pids) != 2 {
		t.Fatalf("found %v", pids)
	}
	_ = syscall.Kill(pids[0], syscall.SIGKILL)
	eventually(t, captureBound, "the child is gone", func() bool { return gone(pids[1]) })
}
