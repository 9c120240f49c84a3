//go:build linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ralph/internal/world"
)

// plantsGit does its task, and plants all there is; in the second call, only the task.
func plantsGit(a *actor) int {
	a.listen()
	a.work()
	if a.call == 1 {
		cmd := exec.Command("sh", "-c", os.Getenv(scriptVar))
		out, err := cmd.CombinedOutput()
		note("planted", fmt.Sprint(err, len(out)))
		if os.Getenv(waitVar) != "" {
			return forever()
		}
	}
	return a.result(false, nil)
}

const (
	scriptVar = "RALPH_FAULTS_SCRIPT"
	waitVar   = "RALPH_FAULTS_WAIT" // for the end, once all is planted
)

// contained is a yard in which the agent of a run plants what a script says.
func contained(t *testing.T, sandbox, script string) *project {
	t.Helper()
	w := newProject(t, "plants-git", 2)
	w.Yard()
	w.Env = append(w.Env, "SANDBOX="+sandbox, "TMPDIR="+filepath.Join(w.Home, "tmp"), scriptVar+"="+script, "GIT_CONFIG_GLOBAL="+filepath.Join(w.Home, ".gitconfig"))
	w.ledger = filepath.Join(w.Home, "tmp", "ledger")
	w.Set(ledgerVar, w.ledger)
	return w
}

func (w *project) needs(sandbox string) {
	w.Helper()
	if out, code := w.Run("ralph", "run", "--dry-run", "--sandbox", sandbox); code != 0 {
		w.Skipf("%s: %s", sandbox, out)
	}
}

func TestRun_containedAgentPlants_nothingIsStartedLater(t *testing.T) {
	for _, sandbox := range []string{"landlock", "bwrap"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			w := contained(t, sandbox, world.AllPlants())
			w.needs(sandbox)
			before := w.Settings()
			said, code := w.Run("ralph", "run")
			if after := w.Settings(); after != before {
				t.Errorf("settings are\n%s\nwere\n%s", after, before)
			}
			if ran := w.As(""); ran != "" {
				t.Errorf("after the run, git started %q", ran)
			}
			kept, _ := filepath.Glob(w.Path(".ralph/logs/*/planted.*"))
			if strings.Count(said, "! audit: a contained program changed what git starts") != 1 || len(kept) < 5 {
				t.Errorf("the run ended with %d and %d files kept, and said\n%s", code, len(kept), said)
			}
			w.refill(1)
			if said, code := w.Run("ralph", "run"); code != 0 || strings.Contains(said, "git starts") {
				t.Errorf("the second run ended with %d\n%s", code, said)
			}
			var users string
			for _, p := range world.Plants() {
				users += p.User + "\n"
			}
			if ran := w.As(users); ran != "" {
				t.Errorf("after the second run, git started %q", ran)
			}
		})
	}
}

func TestRun_isKilledBeforeItPutsBack_theNextOneDoes(t *testing.T) {
	t.Parallel()
	w := contained(t, "landlock", world.AllPlants())
	w.needs("landlock")
	before := w.Settings()
	w.Set(waitVar, "1")
	p := w.ralph("run")
	w.Until("all is planted", func() bool { return len(w.entries("planted")) > 0 })
	kill(p.Cmd.Process.Pid, syscall.SIGKILL)
	p.Wait(world.Patience)
	w.Unset(waitVar)
	if w.Settings() == before {
		t.Fatal("the agent planted nothing")
	}
	said, _ := w.Run("ralph", "status")
	if !strings.Contains(said, "ralph was killed changed what git starts") {
		t.Errorf("said %s", said)
	}
	if after := w.Settings(); after != before {
		t.Errorf("settings are\n%s\nwere\n%s", after, before)
	}
	if said, code := w.Run("ralph", "run"); code != 0 {
		t.Errorf("the next run ended with %d\n%s", code, said)
	}
	if ran := w.As(""); ran != "" {
		t.Errorf("git started %q", ran)
	}
}
