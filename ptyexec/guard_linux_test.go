package ptyexec

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestRun_guardKilledByTheChild_isAKilledCallAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "setsid", "daemon", "lowered"} {
		for _, pipe := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				exit, out := capture(t, Command{Args: self("parricide", "9", kind), Pipe: pipe, KillGrace: 100 * time.Millisecond})
				if exit.Cause != CauseExited || exit.Code != -1 || exit.Signal != syscall.SIGKILL {
					t.Errorf("got %+v", exit)
				}
				wantGone(t, printedPids(t, out))
			})
		}
	}
}

func TestRun_guardKilled_whatForksAgainAndAgainIsEnded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	script := `"$0" -child hopper "$1" & until [ -s "$1" ]; do sleep 0.02; done; kill -9 $PPID; sleep 60`
	exit, _ := capture(t, Command{Args: []string{"sh", "-c", script, os.Args[0], file}, KillGrace: 100 * time.Millisecond})
	if exit.Signal != syscall.SIGKILL {
		t.Errorf("got %+v", exit)
	}
	before, _ := os.ReadFile(file)
	time.Sleep(200 * time.Millisecond) // sleep: it would hop meanwhile
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("it is still there: %s, then %s, %v", before, after, err)
	}
}

func TestRun_guardKilled_whatIsNotItsOwnStays(t *testing.T) {
	t.Parallel()
	own := exec.Command("setsid", "sleep", "60")
	out, err := exec.Command("sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo pid $!").Output()
	if err = errors.Join(err, own.Start()); err != nil {
		t.Fatal(err)
	}
	kept := append(printedPids(t, string(out)), own.Process.Pid)
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan string, 1), make(chan Exit)
	go func() {
		exit, err := Run(ctx, Command{Args: []string{"sh", "-c", "setsid sleep 60 & echo pid $!; exec sleep 60"}}, func(p []byte) bool {
			started <- string(p)
			return false
		})
		if err != nil {
			t.Error(err)
		}
		ended <- exit
	}()
	beside := printedPids(t, <-started)
	for range 5 {
		_, out := capture(t, Command{Args: self("parricide", "9", "lowered"), KillGrace: 10 * time.Millisecond})
		wantGone(t, printedPids(t, out))
	}
	for _, pid := range append(kept, beside...) {
		if gone(pid) {
			t.Errorf("process %d was ended", pid)
		}
	}
	cancel()
	if exit := <-ended; exit.Cause != CauseCancelled {
		t.Errorf("got %+v", exit)
	}
	wantGone(t, beside)
	for _, pid := range kept {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = own.Wait()
}

func TestRun_orphansOfThisProcess_areCollectedAndItsChildrenAreNot(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("sh", "-c", "setsid sleep 0.1 >/dev/null 2>&1 & echo pid $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 50 {
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	orphan := printedPids(t, string(out))[0]
	eventually(t, captureBound, "the orphan is collected", func() bool {
		capture(t, Command{Args: []string{"true"}})
		_, err := stat(orphan)
		return err != nil
	})
	others.Wait()
}

func TestRun_runnerKilledAndGuardStopped_childAndItsDescendantsDie(t *testing.T) {
	t.Parallel()
	argv := self("runner", "parent", "daemon", "ignore")
	runner := exec.Command(argv[0], argv[1:]...)
	out, err := runner.StdoutPipe()
	if err == nil {
		err = runner.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pids := descendants(runner.Process.Pid)
	if err != nil || len(pids) < 2 {
		t.Fatalf("%v: %v", pids, err)
	}
	_ = runner.Process.Signal(syscall.SIGSTOP) // else it would continue the guard
	_ = syscall.Kill(pids[0], syscall.SIGSTOP)
	_ = runner.Process.Kill()
	_ = runner.Wait()
	for _, pid := range append(pids, printedPids(t, line)...) {
		eventually(t, captureBound, "nothing is left", func() bool { return gone(pid) })
	}
}

func TestRun_guardStoppedByTheChild_continues(t *testing.T) {
	t.Parallel()
	exit, out := capture(t, Command{Args: self("parricide", "19", "plain"), KillGrace: 100 * time.Millisecond})
	if exit.Code != 6 || exit.Cause != CauseExited {
		t.Errorf("got %+v", exit)
	}
	wantGone(t, printedPids(t, out))
}

func TestRun_guardStoppedAgainAndAgain_endsInABound(t *testing.T) {
	t.Parallel()
	script := `trap '' TERM; guard=$PPID; setsid sh -c 'trap "" TERM; while :; do kill -STOP '$guard'; done' & exec sleep 60`
	exit, _ := capture(t, Command{Args: []string{"sh", "-c", script}, KillGrace: 100 * time.Millisecond, Timeout: time.Second})
	if exit.Cause != CauseTimeout {
		t.Errorf("got %+v", exit)
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
