package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/sandbox"
)

// Who asks for a sandbox means every program that ralph starts for the project, also
// outside of a run.
func TestVerbs_thatRunTheProjectsPrograms_runThemInTheSandbox(t *testing.T) {
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
			for _, argv := range [][]string{{"check"}, {"bisect", "test"}, {"bisect", "--", "touch " + outside}, {"agent", "test", "--yes"}} {
				_, out := w.do(argv...)
				if _, err := os.Stat(outside); err == nil {
					t.Errorf("ralph %s writes outside of the project:\n%s", strings.Join(argv, " "), out)
					_ = os.Remove(outside)
				}
				if argv[0] != "agent" && !strings.Contains(out, "sandbox "+trial.Name+", network all") {
					t.Errorf("ralph %s does not say so:\n%s", strings.Join(argv, " "), out)
				}
			}
			w.want(0, "text works", "agent", "test", "--yes")
			w.want(0, "iteration 2 broke it", "bisect", "--", "grep -q good good.txt")
			w.want(1, "touch: ", "check")
		})
	}
}
