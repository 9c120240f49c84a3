package containers

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
	own, ended := Name(), fmt.Sprintf("%s%d-1-abc", prefix(), cmd.Process.Pid)
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]+$`).MatchString(own) || own == Name() {
		t.Errorf("name %q", own)
	}
	for name, want := range map[string]bool{
		own:   false,
		ended: true,
		fmt.Sprintf("%s%d-1-abc", prefix(), os.Getpid()): startTime(os.Getpid()) != "0", // its number was given again
		strings.Replace(ended, "-", "-0", 1):             false,                         // of another machine
		"ralph-abc":                                      false,
		"ralph-postgres-1":                               false,
		"":                                               false,
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
	ended := fmt.Sprintf("%s%d-1-abc", prefix(), cmd.Process.Pid)
	script := fmt.Sprintf("#!/bin/sh\ncase $1 in ps) echo %s; echo %s;; *) echo \"$@\" >>%s/asked;; esac\n", Name(), ended, dir)
	if err := os.WriteFile(filepath.Join(dir, "engine"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	RemoveOrphans(t.Context(), filepath.Join(dir, "engine"))
	if got, _ := os.ReadFile(filepath.Join(dir, "asked")); string(got) != "rm --force "+ended+"\n" {
		t.Errorf("asked for %q", got)
	}
}
