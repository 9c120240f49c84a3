package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
)

func TestConfig_detectedCheck_isShown(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile(dir+"/test.sh", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := newConfigCmd(&cmdline.Factory{In: os.Stdin, Out: &out, Err: io.Discard, Dir: dir})
	cmd.SetArgs(nil)
	if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), "detected check test: ./test.sh\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestConfigCheck_worktreesThatCannotBe_refusedAsByARun(t *testing.T) {
	git := func(dir string, args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for name, test := range map[string]struct {
		options, want string
		make          func(dir string)
	}{
		"no such agent":    {"AGENT=nobody\n", `.ralphrc:1: AGENT: unknown agent "nobody", known are: claude,`, nil},
		"no such fallback": {"FALLBACK_AGENTS=codex,nobody\n", `.ralphrc:1: FALLBACK_AGENTS: unknown agent "nobody", known are: claude,`, nil},
		"unknown service":  {"NOTIFY=nfty://ntfy.sh/t\n", ".ralphrc:1: NOTIFY: entry 1 names no service; allowed are desktop,", nil},
		"no repository":    {"ISOLATE=worktree\n", "worktrees need a git repository; make one with: git init && git add -A && git commit -m start", nil},
		"no commit": {"PARALLEL=2\n", "worktrees need a first commit; make one with: git add -A && git commit -m start",
			func(dir string) { git(dir, "init", "-q") }},
		"a program keeps the plan": {"PARALLEL=2\n", "worktrees need a plan in files, and bd keeps its tasks in a database", func(dir string) {
			git(dir, "init", "-q")
			git(dir, "commit", "-q", "--allow-empty", "-m", "start")
			if err := os.Mkdir(dir+"/.beads", 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		"fine": {"PARALLEL=2\n", "", func(dir string) {
			git(dir, "init", "-q")
			git(dir, "commit", "-q", "--allow-empty", "-m", "start")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", t.TempDir())
			t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
			if test.make != nil {
				test.make(dir)
			}
			if err := os.WriteFile(dir+"/.ralphrc", []byte(test.options), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := newConfigCmd(&cmdline.Factory{In: os.Stdin, Out: io.Discard, Err: io.Discard, Dir: dir, Env: os.Environ()})
			cmd.SetArgs([]string{"--check"})
			err := cmd.Execute()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
