//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
)

// homeSecret is a line of testdata/home-secrets.txt.
type homeSecret struct{ tool, path, text string }

func homeSecrets(t *testing.T) (all []homeSecret) {
	t.Helper()
	data, err := os.ReadFile("testdata/home-secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		tool, rest, _ := strings.Cut(line, "\t")
		path, text, _ := strings.Cut(rest, "\t")
		if text == "" {
			text = "MARK"
		}
		all = append(all, homeSecret{tool, path, text})
	}
	return all
}

const (
	homeMark = "0f4c-planted"
	// readHome copies each file of the list that it can read, and each name that it can list, into the project.
	readHome = `kind=$1
while IFS= read -r path; do
	while IFS= read -r line; do
		case $line in *` + homeMark + `*) echo "$path" >>"read.$kind" ;; esac
	done 2>/dev/null <"$HOME/$path"
	[ "$LISTS" ] && [ -e "$HOME/$path" ] && echo "$path" >>"seen.$kind"
done <paths.txt 2>/dev/null
grep -rls ` + homeMark + ` "$HOME" 2>/dev/null | grep -v "^$PWD/" | sed "s|^$HOME/||" >>"read.$kind"
echo ended >>"read.$kind"
true
`
)

// With a sandbox, of all files of the user's home folder agents, checks and hooks can read none that is not the project,
// a toolchain, or the agent's own.
func TestHome_secretsOfAllTools_noneIsReadInASandbox(t *testing.T) {
	world.Long(t, "sandboxes")
	secrets := homeSecrets(t)
	for _, mode := range []string{"off", "podman", "docker", "bwrap", "landlock"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, "")
			var paths strings.Builder
			for _, s := range secrets {
				w.Write("../"+s.path, strings.ReplaceAll(s.text, "MARK", homeMark)+"\n")
				paths.WriteString(s.path + "\n")
			}
			w.Write("../.local/bin/tool", "")
			w.Do(os.MkdirAll(filepath.Join(w.Home, "temp"), 0o700))
			conf, err := filepath.Abs("../../scripts/containers.conf")
			w.Do(err)
			w.Set("CONTAINERS_CONF", conf)
			w.Set("PATH", filepath.Join(w.Home, ".local/bin")+":"+world.Docker(t)+":"+os.Getenv("PATH")+":"+world.Programs(t))
			w.Set("GIT_AUTHOR_NAME", "Test")
			w.Set("GIT_AUTHOR_EMAIL", "test@ralph.invalid")
			w.Set("GIT_COMMITTER_NAME", "Test")
			w.Set("GIT_COMMITTER_EMAIL", "test@ralph.invalid")
			w.Set("TMPDIR", filepath.Join(w.Home, "temp")) // else temp has the home folder in it
			w.Write("paths.txt", paths.String())
			w.Write("try.sh", readHome)
			w.Write("agent.sh", "cat >/dev/null; sh try.sh agent; sed -i 's/. . one/[x] one/' .ralph/fix_plan.md; echo x >work.txt; echo done\n")
			w.Begin("- [ ] one\n")
			if mode != "off" && mode != "landlock" { // landlock refuses, and does not hide
				w.Set("LISTS", "1")
			}
			for name, value := range map[string]string{"AGENT": "text", "CLAUDE_CODE_CMD": "sh agent.sh", "SANDBOX": mode, "MAX_ITERATIONS": "2",
				"TEST_COMMAND": "sh try.sh check", "HOOK_POST_ITERATION": "sh try.sh hook"} {
				w.Set(name, value)
			}
			p := w.Start("ralph", "run")
			if p.Wait(2 * time.Minute); strings.Contains(p.Said(), "does not work here") {
				t.Skip(p.Said())
			}
			for _, kind := range []string{"agent", "check", "hook"} {
				read, seen := lines(w, "read."+kind), lines(w, "seen."+kind)
				if !read["ended"] {
					t.Errorf("%s did not run\n%s", kind, p.Said())
				}
				delete(read, "ended")
				t.Logf("%s: the %s read %d of %d files", mode, kind, len(read), len(secrets))
				if mode == "off" && len(read) < len(secrets) || mode != "off" && len(read)+len(seen) > 0 {
					t.Errorf("%s: the %s read %d files and saw %d of %d: %v %v", mode, kind, len(read), len(seen), len(secrets), read, seen)
				}
			}
		})
	}
}

// lines returns the lines of a file in the project; a missing one has none.
func lines(w *world.World, name string) map[string]bool {
	all := map[string]bool{}
	data, _ := os.ReadFile(w.Path(name))
	for line := range strings.Lines(string(data)) {
		all[strings.TrimSpace(line)] = true
	}
	return all
}

// The list has no tool and no file twice, and is as long as docs/sandbox.md says.
func TestHome_list(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range homeSecrets(t) {
		if seen[s.tool] || seen[s.path] || s.path == "" || !strings.Contains(s.text, "MARK") {
			t.Errorf("twice, or without a file: %+v", s)
		}
		seen[s.tool], seen[s.path] = true, true
	}
	if len(seen) < 2*300 {
		t.Errorf("%d tools", len(seen)/2)
	}
}
