//go:build e2e && linux

package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

func TestAgents_planOfTwo_isWorkedOffInASandbox(t *testing.T) {
	// What differs between agents, the files that they need, is the same in both; landlock is the stricter one.
	for sandbox, all := range map[string][]agentCLI{"landlock": agents(), "bwrap": agents()[:3]} {
		t.Run(sandbox, func(t *testing.T) {
			each(t, all, func(t *testing.T, a agentCLI) {
				w := newProject(t, a, 2, mockllm.Plan(2))
				w.onlyMock(sandbox)
				w.Set("TMPDIR", t.TempDir()) // else temp has the home folder in it, and landlock refuses new files there
				w.finished(w.run(a, "--sandbox", sandbox).Wait(2*time.Minute), 2)
			})
		})
	}
}

// onlyMock limits the network of the sandbox to the mock server: landlock knows ports
// only.
func (w *project) onlyMock(sandbox string) {
	w.Helper()
	server, err := url.Parse(w.mock.URL(scenario))
	w.Do(err)
	if sandbox == "landlock" {
		w.Set("SANDBOX_NET", ":"+server.Port())
		return
	}
	w.Set("SANDBOX_NET", server.Host)
}

// inPodman returns a project whose agent works in a container.
func inPodman(t *testing.T, sc mockllm.Scenario) *project {
	t.Helper()
	if out, err := exec.Command("podman", "image", "inspect", "localhost/ralph-sandbox").CombinedOutput(); err != nil {
		t.Skipf("make sandbox-image has not run: %v: %s", err, out)
	}
	w := newProject(t, claude(), 2, sc)
	conf, err := filepath.Abs("../../scripts/containers.conf")
	w.Do(err)
	w.Set("CONTAINERS_CONF", conf)
	w.Set("SANDBOX", "podman")
	w.onlyMock("podman")
	return w
}

// containers lists those of ralph, also ended ones.
func containers(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("podman", "ps", "--all", "--quiet", "--filter", "name=^ralph-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestPodman_planOfTwo_isWorkedOffAndNothingIsLeft(t *testing.T) {
	w := inPodman(t, mockllm.Plan(2))
	w.Write("../.ssh/id_ed25519", "secret")
	w.finished(w.ralph("run").Wait(3*time.Minute), 2)
	if left := containers(t); left != "" {
		t.Errorf("containers are left: %s", left)
	}
}

func TestPodman_ralphKilled_theContainerIsRemoved(t *testing.T) {
	started := func(w *project) bool {
		events, _ := os.ReadFile(w.Path(".ralph/events.jsonl"))
		return strings.Contains(string(events), `"data":{"name":"agent"}`)
	}
	for moment, c := range map[string]struct {
		scenario string
		check    string
		reached  func(w *project) bool
		runs     bool // a container does
	}{
		"before the container starts": {"long-tool", "true", started, false},
		"while the agent works":       {"long-tool", "true", func(w *project) bool { return w.commandRuns() }, true},
		"while a check works": {"", "! grep -q x] .ralph/fix_plan.md || { touch checking; sleep 600; }",
			func(w *project) bool { _, err := os.Stat(w.Path("checking")); return err == nil }, true},
	} {
		t.Run(moment, func(t *testing.T) {
			sc := mockllm.Plan(2)
			if c.scenario != "" {
				sc = mockllm.Builtin()[c.scenario]
			}
			w := inPodman(t, sc)
			w.Set("TEST_COMMAND", c.check)
			p := w.ralph("run")
			w.Until(moment, func() bool { return c.reached(w) })
			if c.runs && containers(t) == "" {
				t.Fatal("no container runs")
			}
			p.Process.Kill()
			<-p.Exited
			w.Until("the container is removed", func() bool { return containers(t) == "" })
			w.NoneLeft(5 * time.Second)
			if left := containers(t); left != "" {
				t.Errorf("started after all: %s", left)
			}
		})
	}
}

func TestPodman_agentIsOnlyInTheImage_works(t *testing.T) {
	w := inPodman(t, mockllm.Plan(2))
	w.Set("PATH", "/usr/bin:/bin")
	if _, err := exec.LookPath("/usr/bin/claude"); err == nil {
		t.Skip("claude is installed on this machine")
	}
	w.finished(w.ralph("run").Wait(3*time.Minute), 2)
}
