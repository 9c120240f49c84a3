package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/sandbox"
	"ralph/state"
)

// Who asks for a sandbox means every program that ralph starts for the project, also
// outside of a run.
func TestVerbs_thatRunTheProjectsPrograms_runThemInTheSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a sandbox for each verb")
	}
	var s sandbox.Settings
	for _, trial := range s.Try() {
		if (sandbox.Settings{Sandbox: trial.Name}).InContainer() {
			continue // it has its own programs, and no outside
		}
		t.Run(trial.Name, func(t *testing.T) {
			if trial.Err != nil {
				t.Skip(trial.Err)
			}
			outside := filepath.Join(t.TempDir(), "outside")
			t.Setenv("TMPDIR", t.TempDir()) // the only one that may be written
			agent := filepath.Join(t.TempDir(), "agent")
			if err := os.WriteFile(agent, []byte("#!/bin/sh\ntouch "+outside+"\necho ok\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{"SANDBOX": trial.Name, "TEST_COMMAND": "touch " + outside, "AGENT": "text", "AGENT_CMD": agent,
				"XDG_STATE_HOME": t.TempDir()} {
				t.Setenv(name, value)
			}
			w := newPastWorld(t)
			for _, argv := range [][]string{{"check"}, {"doctor", "--live"}} {
				_, out := w.do(argv...)
				if _, err := os.Stat(outside); err == nil {
					t.Errorf("ralph %s writes outside of the project:\n%s", strings.Join(argv, " "), out)
					_ = os.Remove(outside)
				}
				if argv[0] != "doctor" && !strings.Contains(out, "sandbox "+trial.Name+", network all") {
					t.Errorf("ralph %s does not say so:\n%s", strings.Join(argv, " "), out)
				}
			}
			if _, out := w.do("doctor", "--live"); !strings.Contains(out, "ok    live") {
				t.Error(out)
			}
			w.want(1, "touch: ", "check")
		})
	}
}

// What was asked for holds, or nothing starts: one line says what is missing, and how to get it.
func TestRun_sandboxThatDoesNotWork_exitsWith2AndSaysHow(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a sandbox")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	bin := t.TempDir()
	for name, to := range map[string]string{"git": git, "agent": "/bin/true"} {
		if err := os.Symlink(to, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ env, want string }{
		{"SANDBOX=podman", "SANDBOX=podman does not work here: podman: podman is not installed (apt install podman"},
		{"SANDBOX=docker", "SANDBOX=docker does not work here: docker: docker is not installed (apt install docker.io"},
		{"RALPH_USE_DOCKER=yes", "SANDBOX=docker does not work here: docker: docker is not installed"},
		{"SANDBOX=bwrap", "SANDBOX=bwrap does not work here: bwrap: bubblewrap is not installed (apt install bubblewrap"},
		{"SANDBOX=landlock SANDBOX_NET=example.com", "SANDBOX=landlock does not work here: landlock: Landlock cannot tell hosts apart"},
		{"SANDBOX=auto SANDBOX_NET=example.com", "SANDBOX=auto does not work here: podman: podman is not installed"},
		{"RALPH_USE_DOCKER=auto SANDBOX_NET=example.com", "SANDBOX=auto does not work here: podman: podman is not installed"},
		{"SANDBOX_NET=none", "SANDBOX_NET=none needs SANDBOX="},
	} {
		t.Run(test.env, func(t *testing.T) {
			for _, pair := range strings.Fields(test.env + " AGENT=text AGENT_CMD=agent TEST_COMMAND=true XDG_STATE_HOME=" + t.TempDir()) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			w := newPastWorld(t)
			w.write(".ralph/PROMPT.md", "work\n")
			w.write(".ralph/fix_plan.md", "- [ ] one\n")
			t.Setenv("PATH", bin)
			for _, argv := range [][]string{{"run"}, {"once"}, {"run", "--dry-run"}, {"check"}} {
				if out := w.want(state.ExitUsage, test.want, argv...); strings.Count(out, test.want) != 1 || strings.Contains(out, "iteration 1") {
					t.Errorf("ralph %v: %s", argv, out)
				}
			}
		})
	}
}

// A program that works outside may need a file that the sandbox hides.
func TestDoctor_sandboxHidesWhatTheAgentNeeds_isSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a sandbox")
	}
	if _, err := (sandbox.Settings{Sandbox: "bwrap"}).Resolve(); err != nil {
		t.Skip(err)
	}
	bin, hidden := t.TempDir(), filepath.Join(t.TempDir(), "real")
	t.Setenv("TMPDIR", t.TempDir())
	for path, text := range map[string]string{hidden: "echo 2.1.0", filepath.Join(bin, "claude"): "exec " + hidden} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for mode, want := range map[string]string{"off": "ok    agent     claude: 2.1.0", "bwrap": "FAIL  sandbox   claude cannot run there: claude --version ended with exit code 127"} {
		t.Setenv("SANDBOX", mode)
		if _, out := newPastWorld(t).do("doctor", "--agent", "claude"); !strings.Contains(out, want) {
			t.Errorf("SANDBOX=%s:\n%s", mode, out)
		}
	}
}
