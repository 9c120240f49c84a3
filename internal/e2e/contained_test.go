//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
)

// kinds returns the commands that a sandbox contains.
func kinds() []string { return []string{"agent", "check", "hook"} }

// tries is what each of them does: it says what it could read and write of the user's.
const tries = `kind=$1
cat "$HOME/.ssh/id_ed25519" >"tried.$kind" 2>/dev/null
echo evil >>"$HOME/.bashrc.$kind"
echo evil >"$HOME/other/$kind"
echo ended >>"tried.$kind"
`

// In every sandbox, agents, checks and hooks are all inside; without one, they all do what a sandbox refuses.
func TestContained_agentsChecksAndHooks(t *testing.T) {
	for _, mode := range []string{"off", "podman", "docker", "bwrap", "landlock"} {
		t.Run(mode, func(t *testing.T) {
			w := world.New(t, "")
			conf, err := filepath.Abs("../../scripts/containers.conf")
			w.Do(err)
			w.Set("CONTAINERS_CONF", conf)
			if mode == "docker" {
				w.Set("PATH", world.Programs(t)+":"+world.Docker(t)+":"+os.Getenv("PATH"))
			}
			w.Write("try.sh", tries)
			w.Write("agent.sh", "cat >/dev/null; sh try.sh agent; sed -i 's/. . one/[x] one/' .ralph/fix_plan.md; echo x >work.txt; echo done\n")
			w.Write("../.ssh/id_ed25519", "secret\n")
			w.Write("../other/file", "")
			w.Write("../temp/file", "")
			w.Begin("- [ ] one\n")
			for name, value := range map[string]string{"AGENT": "text", "CLAUDE_CODE_CMD": "sh agent.sh", "SANDBOX": mode, "MAX_ITERATIONS": "2",
				"TEST_COMMAND": "sh try.sh check", "HOOK_POST_ITERATION": "sh try.sh hook", "TMPDIR": w.Path("../temp")} { // else temp has the home folder in it
				w.Set(name, value)
			}
			p := w.Start("ralph", "run")
			if code := p.Wait(2 * time.Minute); strings.Contains(p.Said(), "does not work here") {
				t.Skip(p.Said())
			} else if code != 0 && mode == "off" {
				t.Errorf("exit %d\n%s", code, p.Said())
			}
			for _, kind := range kinds() {
				if did := escaped(w, kind); (len(did) == 3) != (mode == "off") || (len(did) == 0) == (mode == "off") {
					t.Errorf("%s: %q\n%s", kind, did, p.Said())
				}
			}
			if strings.Contains("podman docker", mode) { // podman removes a container after its program has ended
				w.Until("no container is left", func() bool { return containers(t) == "" })
			}
		})
	}
}

// escaped lists what a command could do although a sandbox must refuse it.
func escaped(w *world.World, kind string) (did []string) {
	text, err := os.ReadFile(w.Path("tried." + kind))
	if err != nil || !strings.HasSuffix(string(text), "ended\n") {
		w.Errorf("%s did not run: %q, %v", kind, text, err)
	}
	if strings.Contains(string(text), "secret") {
		did = append(did, "read a key")
	}
	for _, name := range []string{"../.bashrc." + kind, "../other/" + kind} {
		if _, err := os.Stat(w.Path(name)); err == nil {
			did = append(did, "wrote "+name)
		}
	}
	return did
}
