// Package world runs the real programs in a private home, project and environment. No
// process may be left when a test ends.
package world

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// World is a project, which is the folder, in a home.
type World struct {
	Folder
	Home string
	// Mark is in the environment of every process that starts here.
	Mark string
	// More lists processes that belong here beside the marked ones, those of
	// which the number is unsafe to kill as -1, -2, ...; nil: none.
	More func() map[int]string
}

// New makes a world in the folder home; "" is a new one. When the test ends,
// nothing that was started here may be alive.
func New(t testing.TB, home string) *World {
	t.Helper()
	w := &World{Folder: Folder{TB: t}}
	if home == "" {
		home = t.TempDir()
	}
	var err error
	w.Home, err = filepath.EvalSymlinks(home)
	w.Do(err)
	w.Dir, w.Mark = filepath.Join(w.Home, "project"), "RALPH_WORLD="+w.Home
	w.Env = []string{"HOME=" + w.Home, "PATH=" + Programs(t) + ":" + os.Getenv("PATH"), "SHELL=/bin/sh", "LANG=C.UTF-8",
		"TERM=xterm-256color", "GIT_CONFIG_NOSYSTEM=1", "COOLDOWN_ON_ERROR=0s", w.Mark}
	w.Write("../.gitconfig", "[user]\n\tname = Test\n\temail = test@ralph.invalid\n")
	t.Cleanup(func() { w.NoneLeft(10 * time.Second) })
	return w
}

// Begin makes the project: a prompt, a plan, and a repository with one commit.
func (w *World) Begin(plan string) {
	w.Helper()
	w.Write(".ralph/PROMPT.md", "Do the next task of the plan.\n")
	w.Write(".ralph/fix_plan.md", plan)
	w.Git("init", "-q")
	w.Commit("begin")
}

// Living returns the processes of the world: those with its mark, those that work
// below its home, as some clear their environment, and More.
func (w *World) Living() map[int]string {
	alive := map[int]string{}
	if w.More != nil {
		alive = w.More()
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		cwd, _ := os.Readlink(filepath.Join(d, "cwd"))
		if bytes.Contains(env, []byte(w.Mark+"\x00")) || strings.HasPrefix(cwd, w.Home+"/") {
			if pid, err := strconv.Atoi(filepath.Base(d)); err == nil {
				alive[pid] = CommandLine(pid)
			}
		}
	}
	return alive
}

// CommandLine returns the command line of a process, "" when it has ended.
func CommandLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}

// NoneLeft fails the test for every process of the world that is still there
// after so long, and ends it. It returns how long it took.
func (w *World) NoneLeft(within time.Duration) time.Duration {
	w.Helper()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		left, took := w.Living(), time.Since(began)
		if len(left) == 0 {
			return took
		}
		if took <= within {
			continue
		}
		for pid, line := range left {
			w.Errorf("process %d is left after %s: %s", pid, took.Round(time.Millisecond), line)
			if pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return took
	}
}

// Until is Within for Patience.
func (w *World) Until(what string, ok func() bool, said ...func() string) {
	w.Helper()
	Within(w, Patience, what, ok, said...)
}

// Within polls until ok returns true. If that takes longer than the bound, the test fails, with what the funcs in said
// return.
func Within(t testing.TB, bound time.Duration, what string, ok func() bool, said ...func() string) {
	t.Helper()
	for end := time.Now().Add(bound); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			text := ""
			for _, f := range said {
				text += "\n" + f()
			}
			t.Fatalf("%s: not within %s%s", what, bound, text)
		}
	}
}
