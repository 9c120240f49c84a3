package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLeft_onlyContainersOfEndedProcessesHere(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	own, ended := containerName(), fmt.Sprintf("%s%d-1-abc", containerPrefix(), cmd.Process.Pid)
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]+$`).MatchString(own) || own == containerName() {
		t.Errorf("name %q", own)
	}
	for name, want := range map[string]bool{
		own:   false,
		ended: true,
		fmt.Sprintf("%s%d-1-abc", containerPrefix(), os.Getpid()): startTime(os.Getpid()) != "0", // its number was given again
		strings.Replace(ended, "-", "-0", 1):                      false,                         // of another machine
		"ralph-abc":                                               false,
		"ralph-postgres-1":                                        false,
		"":                                                        false,
	} {
		if got := orphaned(name); got != want {
			t.Errorf("%q is left: %v", name, got)
		}
	}
}

// The engine is a script that says what it was asked for.
func TestRemoveLeft_removesThoseAlone(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	ended := fmt.Sprintf("%s%d-1-abc", containerPrefix(), cmd.Process.Pid)
	script := fmt.Sprintf("#!/bin/sh\ncase $1 in ps) echo %s; echo %s;; *) echo \"$@\" >>%s/asked;; esac\n", containerName(), ended, dir)
	if err := os.WriteFile(filepath.Join(dir, "engine"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	removeOrphans(t.Context(), filepath.Join(dir, "engine"))
	if got, _ := os.ReadFile(filepath.Join(dir, "asked")); string(got) != "rm --force "+ended+"\n" {
		t.Errorf("asked for %q", got)
	}
}

// The engine is a script that does not know the option --time.
func TestRemove_optionThatTheEngineDoesNotKnow_removesWithout(t *testing.T) {
	for _, kill := range [][]string{nil, {"--time", "0"}} {
		dir := t.TempDir()
		engine, asked := filepath.Join(dir, "engine"), filepath.Join(dir, "asked")
		script := "#!/bin/sh\ncase $* in *--time*) exit 125;; esac\necho \"$@\" >>" + asked + "\n"
		if err := os.WriteFile(engine, []byte(script), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		args := removeContainer(engine, kill, "ralph-x", filepath.Join(dir, "none"))
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput() //nolint:gosec // what ralph runs
		got, _ := os.ReadFile(asked)
		if err != nil || string(got) != "rm --force ralph-x\n" {
			t.Errorf("%q: asked for %q: %v %s", kill, got, err, out)
		}
	}
}
