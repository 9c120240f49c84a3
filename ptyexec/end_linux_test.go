package ptyexec

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestRun_clocks(t *testing.T) {
	t.Parallel()
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
		{"silence, but at work for some time", Command{Args: []string{"sleep", "60"}, IdleTimeout: 10 * time.Millisecond, More: func(silent time.Duration) time.Duration {
			return short - silent
		}}, false, CauseIdle},
		{"output resets the silence", Command{Args: self("drip", "30"), IdleTimeout: 2 * time.Second}, false, CauseExited},
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
				if d := time.Since(begin); d < short || d > long/2 {
					t.Errorf("took %v", d)
				}
			}
		})
	}
}

func TestRun_finalTakenBack_graceIsOff(t *testing.T) {
	t.Parallel()
	calls := 0
	exit, err := Run(t.Context(), Command{Args: self("drip", "30"), FinalGrace: 2 * time.Second}, func([]byte) bool {
		calls++
		return calls == 2
	})
	if err != nil || exit.Cause != CauseExited || exit.Code != 0 {
		t.Errorf("got %+v, %v", exit, err)
	}
}

func TestRun_outputThatBlocks_doesNotStopTheClocks(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	var goneAfter, blockedFor time.Duration
	// Long enough to print the line on a busy machine.
	c := Command{Args: []string{"sh", "-c", "echo pid $$; exec sleep 60"}, Timeout: 2 * time.Second}
	exit, err := Run(t.Context(), c, func(p []byte) bool {
		pid := printedPids(t, string(p))[0]
		for end := begin.Add(captureBound); !gone(pid) && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		goneAfter = time.Since(begin)
		time.Sleep(time.Second) // sleep: the output blocks for longer than the child lives
		blockedFor = time.Since(begin)
		return false
	})
	if err != nil || exit.Cause != CauseTimeout || exit.Duration >= blockedFor {
		t.Errorf("got %+v, %v after %v", exit, err, blockedFor)
	}
	if goneAfter > captureBound {
		t.Error("the child lived as long as the output was blocked")
	}
}

func TestRun_cancelled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		args     []string
		grace    time.Duration
		code     int
		signal   syscall.Signal
		out      string
		min, max time.Duration
	}{
		{"obeys TERM: its last words count", self("obedient"), 30 * time.Second, 7, 0, "ready\ngoodbye", 0, 15 * time.Second},
		{"ignores TERM: KILL after the grace", self("stubborn"), 500 * time.Millisecond, -1, syscall.SIGKILL, "ready\n", 500 * time.Millisecond, 15 * time.Second},
		{"child and grandchild ignore TERM: one grace for both", self("parent", "setsid", "ignore"), 3 * time.Second, -1, syscall.SIGKILL, "", 3 * time.Second, 5900 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out bytes.Buffer
			var begin time.Time
			exit, err := Run(ctx, Command{Args: tt.args, KillGrace: tt.grace, Timeout: time.Minute}, func(p []byte) bool {
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
		exit, err := Run(ctx, Command{Args: self("stubborn"), KillGrace: time.Minute, Kill: kill, Timeout: time.Minute}, func([]byte) bool {
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
		if d := time.Since(begin); d > captureBound {
			t.Errorf("took %v", d)
		}
		if err != nil || exit.Cause != CauseCancelled || exit.Signal != syscall.SIGKILL {
			t.Errorf("got %+v, %v", exit, err)
		}
	}
}

func TestRun_childLeavesProcessesBehind_noneSurvives(t *testing.T) {
	t.Parallel()
	const grace = 300 * time.Millisecond
	for _, kind := range []string{"plain", "setsid", "daemon"} {
		for _, pipe := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				exit, out := capture(t, Command{Args: self("parent", kind, "exit"), KillGrace: grace, Pipe: pipe})
				if d := time.Since(begin); d < grace {
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
	t.Parallel()
	script := `nohup sleep 60 >/dev/null 2>&1 & echo "pid $!"; setsid sleep 60 & echo "pid $!"; sleep 0.2`
	exit, out := capture(t, Command{Args: []string{"sh", "-c", script}, KillGrace: time.Minute})
	wantGone(t, printedPids(t, out))
	if exit.Code != 0 || exit.Leftover != 2 {
		t.Errorf("got %+v", exit)
	}
}

func TestRun_stoppedJob_getsItsTerm(t *testing.T) {
	t.Parallel()
	script := `setsid sh -c 'echo "pid $$"; kill -STOP $$' & while ! grep -q 'State:.T' /proc/$!/status; do :; done`
	_, out := capture(t, Command{Args: []string{"sh", "-c", script}, KillGrace: time.Minute})
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
	t.Parallel()
	script := `for i in 1 2 3 4 5; do (sleep 0.01 &) ; done; sleep 0.2
zombies() { grep -ls 'State:.Z' /proc/[0-9]*/status | while read f; do grep "PPid:.$PPID\$" $f; done 2>/dev/null; }
tries=0; while [ -n "$(zombies)" ] && [ $tries -lt 100 ]; do tries=$((tries+1)); sleep 0.1; done; zombies; echo checked`
	if _, out := capture(t, Command{Args: []string{"sh", "-c", script}}); out != "checked\n" {
		t.Errorf("got %q", out)
	}
}

func TestRun_childClosesItsOutputAndLivesOn_itsExitCounts(t *testing.T) {
	t.Parallel()
	for _, pipe := range []bool{false, true} {
		exit, _ := capture(t, Command{Args: self("mute"), Pipe: pipe})
		if exit.Code != 4 || exit.Duration < 300*time.Millisecond {
			t.Errorf("pipe %v: got %+v", pipe, exit)
		}
	}
}

func TestRun_insideAnotherRun_works(t *testing.T) {
	t.Parallel()
	exit, out := capture(t, Command{Args: self("runner", "parent", "setsid", "exit")})
	if exit.Code != 0 || exit.Leftover != 0 || !strings.Contains(out, "inner {Code:0 ") || !strings.Contains(out, "Leftover:1 ") {
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
