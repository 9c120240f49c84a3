package ptyexec

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestRun_clocks(t *testing.T) {
	const short, long = 300 * time.Millisecond, 30 * time.Second
	tests := []struct {
		name  string
		c     Command
		final bool
		cause Cause
	}{
		{"timeout passes", Command{Args: self("drip", "100"), Timeout: short, IdleTimeout: long}, false, CauseTimeout},
		{"timeout not reached", Command{Args: self("drip", "3"), Timeout: long}, false, CauseExited},
		{"silence passes", Command{Args: self("final"), IdleTimeout: short, Timeout: long}, false, CauseIdle},
		{"silence from the start", Command{Args: []string{"sleep", "60"}, IdleTimeout: short}, false, CauseIdle},
		{"output resets the silence", Command{Args: self("drip", "10"), IdleTimeout: short + 400*time.Millisecond}, false, CauseExited},
		{"final record, then nothing", Command{Args: self("final"), FinalGrace: short, IdleTimeout: long, Timeout: long}, true, CauseFinal},
		{"no final record", Command{Args: self("drip", "6"), FinalGrace: short}, false, CauseExited},
		{"final record, then the end", Command{Args: self("drip", "1"), FinalGrace: long}, true, CauseExited},
		{"final record, grace without end", Command{Args: self("drip", "6")}, true, CauseExited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			exit, err := Run(t.Context(), tt.c, func([]byte) bool { return tt.final })
			if err != nil || exit.Cause != tt.cause {
				t.Errorf("got %+v, %v; want %v", exit, err, tt.cause)
			}
			if tt.cause != CauseExited {
				if exit.Signal != syscall.SIGTERM || exit.Code != -1 {
					t.Errorf("got %+v, want an end by TERM", exit)
				}
				if d := time.Since(begin); d < short || d > short+3*time.Second {
					t.Errorf("took %v", d)
				}
			}
		})
	}
}

func TestRun_finalTakenBack_graceIsOff(t *testing.T) {
	t.Parallel()
	calls := 0
	exit, err := Run(t.Context(), Command{Args: self("drip", "8"), FinalGrace: 400 * time.Millisecond}, func([]byte) bool {
		calls++
		return calls == 2
	})
	if err != nil || exit.Cause != CauseExited || exit.Code != 0 {
		t.Errorf("got %+v, %v", exit, err)
	}
}

func TestRun_outputThatBlocks_doesNotStopTheClocks(t *testing.T) {
	t.Parallel()
	exit, err := Run(t.Context(), Command{Args: self("final"), Timeout: 200 * time.Millisecond}, func([]byte) bool {
		time.Sleep(1500 * time.Millisecond)
		return false
	})
	if err != nil || exit.Cause != CauseTimeout || exit.Duration > time.Second {
		t.Errorf("got %+v, %v", exit, err)
	}
}

func TestRun_cancelled(t *testing.T) {
	tests := []struct {
		name     string
		args     []string
		grace    time.Duration
		code     int
		signal   syscall.Signal
		out      string
		min, max time.Duration
	}{
		{"obeys TERM: its last words count", self("obedient"), 10 * time.Second, 7, 0, "ready\ngoodbye", 0, 2 * time.Second},
		{"ignores TERM: KILL after the grace", self("stubborn"), 500 * time.Millisecond, -1, syscall.SIGKILL, "ready\n", 500 * time.Millisecond, 1500 * time.Millisecond},
		{"child and grandchild ignore TERM: one grace for both", self("parent", "setsid", "ignore"), 500 * time.Millisecond, -1, syscall.SIGKILL, "", 500 * time.Millisecond, 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out bytes.Buffer
			var begin time.Time
			exit, err := Run(ctx, Command{Args: tt.args, KillGrace: tt.grace, Timeout: 15 * time.Second}, func(p []byte) bool {
				out.Write(p)
				if begin.IsZero() && strings.Contains(out.String(), "ready\n") {
					begin = time.Now()
					cancel()
				}
				return false
			})
			d := time.Since(begin)
			if err != nil || exit.Cause != CauseCancelled || exit.Code != tt.code || exit.Signal != tt.signal {
				t.Errorf("got %+v, %v", exit, err)
			}
			if d < tt.min || d > tt.max {
				t.Errorf("took %v, want %v to %v", d, tt.min, tt.max)
			}
			if tt.out != "" && out.String() != tt.out {
				t.Errorf("got %q, want %q", out.String(), tt.out)
			}
			if strings.Contains(out.String(), "pid ") {
				wantGone(t, printedPids(t, out.String()))
			}
		})
	}
}

func TestRun_killClosed_nobodyGetsAGrace(t *testing.T) {
	for _, cancelFirst := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		kill := make(chan struct{})
		var begin time.Time
		exit, err := Run(ctx, Command{Args: self("stubborn"), KillGrace: time.Minute, Kill: kill, Timeout: 15 * time.Second}, func([]byte) bool {
			if begin.IsZero() {
				begin = time.Now()
				if cancelFirst {
					cancel()
				}
				close(kill)
			}
			return false
		})
		cancel()
		if d := time.Since(begin); d > time.Second {
			t.Errorf("took %v", d)
		}
		if err != nil || exit.Cause != CauseCancelled || exit.Signal != syscall.SIGKILL {
			t.Errorf("got %+v, %v", exit, err)
		}
	}
}

func TestRun_childLeavesProcessesBehind_noneSurvives(t *testing.T) {
	const grace = 300 * time.Millisecond
	for _, kind := range []string{"plain", "setsid", "daemon"} {
		for _, pipe := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				exit, out := capture(t, Command{Args: self("parent", kind, "exit"), KillGrace: grace, Pipe: pipe})
				if d := time.Since(begin); d < grace || d > grace+2*time.Second {
					t.Errorf("took %v", d)
				}
				wantGone(t, printedPids(t, out))
				if exit.Code != 0 || exit.Cause != CauseExited || exit.Leftover != 1 {
					t.Errorf("got %+v", exit)
				}
			})
		}
	}
}

func TestRun_backgroundJobThatObeysTerm_costsNoGrace(t *testing.T) {
	script := `nohup sleep 60 >/dev/null 2>&1 & echo "pid $!"; setsid sleep 60 & echo "pid $!"; sleep 0.2`
	begin := time.Now()
	exit, out := capture(t, Command{Args: []string{"sh", "-c", script}, KillGrace: 10 * time.Second})
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	wantGone(t, printedPids(t, out))
	if exit.Code != 0 || exit.Leftover != 2 {
		t.Errorf("got %+v", exit)
	}
}

func TestRun_stoppedJob_getsItsTerm(t *testing.T) {
	script := `setsid sh -c 'echo "pid $$"; kill -STOP $$' & while ! grep -q 'State:.T' /proc/$!/status; do :; done`
	begin := time.Now()
	_, out := capture(t, Command{Args: []string{"sh", "-c", script}, KillGrace: 10 * time.Second})
	if d := time.Since(begin); d > 3*time.Second {
		t.Errorf("took %v", d)
	}
	wantGone(t, printedPids(t, out))
}

func TestRun_processThatFleesByForking_isCaught(t *testing.T) {
	flee := filepath.Join(t.TempDir(), "flee")
	script := "#!/bin/sh\ntrap '' TERM HUP\n[ $1 = 0 ] || setsid \"$0\" $(($1 - 1)) &\n"
	if err := os.WriteFile(flee, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	// Not stopped, it would flee for several seconds.
	exit, _ := capture(t, Command{Args: []string{"sh", "-c", flee + " 5000; exit 0"}, KillGrace: 100 * time.Millisecond})
	if exit.Code != 0 || exit.Leftover == 0 {
		t.Errorf("got %+v", exit)
	}
	all, err := processes(func(p process) bool { return p.state != "Z" })
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		if argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(argv), flee) {
			t.Errorf("process %d is still there: %q", pid, argv)
		}
	}
}

func TestRun_orphansDuringTheRun_leaveNoZombies(t *testing.T) {
	script := `for i in 1 2 3 4 5; do (sleep 0.01 &) ; done; sleep 0.2; grep -ls 'State:.Z' /proc/[0-9]*/status | while read f; do grep "PPid:.$PPID\$" $f; done 2>/dev/null; echo checked`
	if _, out := capture(t, Command{Args: []string{"sh", "-c", script}}); out != "checked\n" {
		t.Errorf("got %q", out)
	}
}

func TestRun_childClosesItsOutputAndLivesOn_itsExitCounts(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		exit, _ := capture(t, Command{Args: self("mute"), Pipe: pipe})
		if exit.Code != 4 || exit.Duration < 300*time.Millisecond {
			t.Errorf("pipe %v: got %+v", pipe, exit)
		}
	}
}

func TestRun_guardKilledByTheChild_isAnErrorAndTheChildDies(t *testing.T) {
	_, out, err := try(t, Command{Args: self("parricide", "9")})
	if err == nil || !strings.Contains(err.Error(), "guard of") {
		t.Errorf("got error %v", err)
	}
	wantGone(t, printedPids(t, out))
}

func TestRun_guardStoppedByTheChild_endsInABound(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	_, out, err := try(t, Command{Args: self("parricide", "19"), Timeout: 200 * time.Millisecond, KillGrace: 100 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "guard of") {
		t.Errorf("got error %v", err)
	}
	if d := time.Since(begin); d > 300*time.Millisecond+giveUpAfter+3*time.Second {
		t.Errorf("took %v", d)
	}
	wantGone(t, printedPids(t, out))
}

func TestRun_guardGetsEverySignalThatCanBeCaught_goesOn(t *testing.T) {
	script := `for s in HUP INT QUIT TERM USR1 USR2 ALRM TSTP TTIN TTOU; do kill -$s $PPID; done; sleep 0.1; echo done; exit 5`
	exit, out := capture(t, Command{Args: []string{"sh", "-c", script}})
	if exit.Code != 5 || out != "done\n" {
		t.Errorf("got %+v, %q", exit, out)
	}
}

func TestRun_runnerKilledWith9_childAndItsDescendantsDie(t *testing.T) {
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
			eventually(t, 2*time.Second, "all processes are gone", func() bool {
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

// descendants lists the tree below pid.
func descendants(pid int) (pids []int) {
	children, _ := processes(func(p process) bool { return p.parent == pid })
	for _, child := range children {
		pids = append(append(pids, child), descendants(child)...)
	}
	return pids
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
	eventually(t, 2*time.Second, "the child is gone", func() bool { return gone(pids[1]) })
}

func TestRun_insideAnotherRun_works(t *testing.T) {
	exit, out := capture(t, Command{Args: self("runner", "parent", "setsid", "exit")})
	if exit.Code != 0 || exit.Leftover != 0 || !strings.Contains(out, "inner {Code:0 ") || !strings.Contains(out, "Leftover:1} <nil>") {
		t.Errorf("got %+v, %q", exit, out)
	}
	wantGone(t, printedPids(t, out))
}

func TestRun_leavesNoDescriptorsGoroutinesOrZombies(t *testing.T) {
	commands := []Command{
		{Args: self("exit", "0")},
		{Args: self("hash"), Stdin: strings.NewReader("prompt"), Pipe: true},
		{Args: []string{"/no/such/program"}},
		{Args: []string{"sh", "-c", "setsid sleep 60 & exit 3"}},
		{Args: []string{"sleep", "60"}, Timeout: 20 * time.Millisecond},
	}
	run := func() {
		for _, c := range commands {
			_, _ = Run(t.Context(), c, func([]byte) bool { return false })
		}
	}
	run() // what the runtime opens once stays
	goroutines := goleak.IgnoreCurrent()
	before := openFiles(t)
	for range 10 {
		run()
	}
	goleak.VerifyNone(t, goroutines)
	if after := openFiles(t); after > before {
		t.Errorf("open descriptors: %d before, %d after", before, after)
	}
	if left := descendants(os.Getpid()); len(left) != 0 {
		t.Errorf("children left: %v", left)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
