package ptyexec

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/ptyexec/cover"
)

func TestRun_after_runsOnceHoweverTheChildEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Command{
		"by itself":                              {Args: []string{"true"}},
		"timeout":                                {Args: []string{"sleep", "600"}, Timeout: 100 * time.Millisecond},
		"by a KILL":                              {Args: []string{"sh", "-c", "kill -9 $$"}},
		"with its guard":                         {Args: []string{"sh", "-c", "kill -9 $PPID; while :; do :; done"}},
		"what it started elsewhere ends with it": {Args: []string{"sh", "-c", "setsid sleep 600 & echo $! > pid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Dir = t.TempDir()
			c.After = []string{"sh", "-c", "echo ran >> after; test ! -e pid || kill $(cat pid)"}
			exit, out := capture(t, c)
			// The kernel ends the child of a killed guard, and may need a moment for that.
			left := exit.Leftover != 0 && name != "with its guard"
			if b, _ := os.ReadFile(filepath.Join(c.Dir, "after")); string(b) != "ran\n" || left {
				t.Errorf("it ran: %q; %+v, %q", b, exit, out)
			}
		})
	}
}

func TestRun_cover_isThereMeanwhileAndGoneAfterwards(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"by itself": "true", "killed": "kill -9 $$", "with children": "sleep 600 & exit 0",
		"with its guard": "kill -9 $PPID; sleep 60"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			c := Command{Args: []string{"sh", "-c", "ls > saw; echo x > filled/in; " + script}, Dir: dir, KillGrace: 100 * time.Millisecond,
				Cover: &cover.Places{Shared: []cover.Place{{Path: at("folder"), Kind: cover.Dir}, {Path: at("filled"), Kind: cover.Dir},
					{Path: at("folder/socket"), Kind: cover.Socket}, {Path: at("there"), Kind: cover.Socket}, {Path: at("file"), Text: "."}},
					Blanks: []cover.Place{{Path: at("blank")}}}}
			if err := os.WriteFile(at("there"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			capture(t, c)
			if saw, _ := os.ReadFile(at("saw")); string(saw) != "blank\nfile\nfilled\nfolder\nsaw\nthere\n" {
				t.Errorf("meanwhile: %q", saw)
			}
			for name, want := range map[string]bool{"folder": false, "filled": true, "file": false, "blank": false, "there": true} {
				if _, err := os.Lstat(at(name)); (err == nil) != want {
					t.Errorf("%s: there: %v, want %v", name, err == nil, want)
				}
			}
		})
	}
}

func TestRun_afterTakesLong_whatIsLeftIsStillEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), captureBound)
	defer cancel()
	// The end comes once both refuse TERM, however long that takes on a busy machine.
	var out bytes.Buffer
	exit, err := Run(ctx, Command{Args: []string{"sh", "-c", "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo ready; sleep 600' & sleep 600"},
		FinalGrace: 50 * time.Millisecond, KillGrace: 100 * time.Millisecond, After: []string{"sleep", "4"}}, func(p []byte) bool {
		out.Write(p)
		return strings.Contains(out.String(), "ready")
	})
	if err != nil || exit.Cause != CauseFinal || exit.Leftover == 0 {
		t.Errorf("got %+v, %v, %q", exit, err, out.String())
	}
}

func TestRun_afterIsMissing_startsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := try(t, Command{Args: []string{"sh", "-c", ": > started"}, Dir: dir, After: []string{"no-such-program"}})
	if _, missing := os.Stat(filepath.Join(dir, "started")); err == nil || missing == nil {
		t.Errorf("got %v, %v", err, missing)
	}
}

func TestRun_runnerKilledWith9_afterRunsAllTheSame(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "after")
	argv := self("runner", "after", file, "parent", "plain", "ignore")
	runner := exec.Command(argv[0], argv[1:]...)
	out, err := runner.StdoutPipe()
	if err == nil {
		err = runner.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "pid ") {
		t.Fatalf("%q, %v", line, err)
	}
	_ = runner.Process.Kill()
	_ = runner.Wait()
	eventually(t, captureBound, "it has run", func() bool {
		b, _ := os.ReadFile(file)
		return string(b) == "ran\n"
	})
}
