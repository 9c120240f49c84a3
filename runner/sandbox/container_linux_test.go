package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/ptyexec"
)

// The engine is a script that says what it was asked for, and writes the id that it is told to.
func TestContainer_isEndedByItsIDOrElseItsName(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct {
		engine, wrote string
		want          string // the last thing asked for; NAME is the container's
	}{
		"podman":                              {"podman", id, "rm --force --time 0 " + id},
		"podman, ended before it wrote it":    {"podman", "", "rm --force --time 0 NAME"},
		"podman, ended while it wrote it":     {"podman", id[:20], "rm --force --time 0 NAME"},
		"docker":                              {"docker", id, "rm --force " + id},
		"docker, ended before it made a file": {"docker", "-", "rm --force NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, bin := t.TempDir(), t.TempDir()
			asked := filepath.Join(bin, "asked")
			script := "#!/bin/sh\necho \"$@\" >>" + asked + "\ntest $1 = run || exit 0\n" +
				"while test \"$1\" != --cidfile; do shift; done\ntest ! -e \"$2\" || exit 9\ntest " + "'" + c.wrote + "' = - || printf %s '" + c.wrote + "' >\"$2\"\n"
			if err := os.WriteFile(filepath.Join(bin, c.engine), []byte(script), 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			t.Setenv("TMPDIR", t.TempDir())
			here, err := Settings{Sandbox: c.engine}.At(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			cmd, err := here.Box(dir, "").Wrap(ptyexec.Command{Args: []string{"true"}, Dir: dir, Pipe: true})
			if err != nil {
				t.Fatal(err)
			}
			exit, err := ptyexec.Run(t.Context(), cmd, func([]byte) bool { return false })
			if err != nil || exit.Code != 0 {
				t.Fatalf("%+v, %v", exit, err)
			}
			text, _ := os.ReadFile(asked) // what is not there is not what is wanted
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			_, started, _ := strings.Cut(lines[0], "--name ")
			called, _, _ := strings.Cut(started, " ")
			if want := strings.Replace(c.want, "NAME", called, 1); called == "" || lines[len(lines)-1] != want {
				t.Errorf("asked for\n%s\nwant %s", text, want)
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// A real container goes with its id, also under another name.
func TestContainer_thatWasRenamed_isRemoved(t *testing.T) {
	long(t)
	if err := (Settings{Sandbox: "podman"}).profile().works(Settings{}); err != nil {
		t.Skip(err)
	}
	home, project := home(t)
	renamed := "renamed-" + strings.TrimPrefix(filepath.Base(tempName()), "ralph-")
	b := box(t, "podman", project)
	cmd, err := b.Wrap(ptyexec.Command{Args: []string{"sh", "-c", "echo begun; trap '' TERM; sleep 60"}, Dir: project, Env: append(os.Environ(), "HOME="+home)})
	if err != nil {
		t.Fatal(err)
	}
	kill := make(chan struct{})
	cmd.Kill = kill
	_, err = ptyexec.Run(t.Context(), cmd, func(p []byte) bool {
		if strings.Contains(string(p), "begun") {
			name := cmd.Args[slices.Index(cmd.Args, "--name")+1]
			if out, err := exec.Command("podman", "rename", name, renamed).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			close(kill)
		}
		return false
	})
	if err != nil {
		t.Error(err)
	}
	if out, err := exec.Command("podman", "ps", "--all", "--quiet", "--filter", "name="+renamed).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("left: %s, %v", out, err)
	}
}
