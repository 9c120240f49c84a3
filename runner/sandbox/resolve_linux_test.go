package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/ptyexec"
	"ralph/ptyexec/confine"
)

// What was asked for holds, or nothing starts.
func TestResolve_cannotBeDone_isRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no bwrap, podman or docker
	for _, test := range []struct {
		s    Settings
		want string // of the error; empty if there is none
	}{
		{Settings{Sandbox: Off}, ""},
		{Settings{Sandbox: Off, SandboxNet: []string{netNone}}, "SANDBOX_NET=none needs SANDBOX"},
		{Settings{Sandbox: "landlock", SandboxNet: []string{"api.example.com"}}, "use bwrap for hosts"},
		{Settings{Sandbox: "bwrap"}, "not installed (apt install bubblewrap"},
		{Settings{Sandbox: "podman"}, "not installed (apt install podman"},
		{Settings{Sandbox: "docker"}, "not installed (apt install docker.io"},
		{Settings{Sandbox: Auto, SandboxNet: []string{"api.example.com"}}, "does not work here"},
	} {
		if _, err := test.s.Resolve(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.s, err)
		}
	}
	s, err := Settings{Sandbox: Auto}.Resolve() // never the bare machine
	if works := landlockWorks(s) == nil; works != (err == nil) || works && s.Sandbox != "landlock" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The bound on processes does not hold for root, so a test as root sees only that it is set.
// What it does, ptyexec/confine tests.
func TestWrap_boundsTheProcesses(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		if (Settings{Sandbox: p.name}).InContainer() {
			return
		}
		_, project := home(t)
		c, err := box(t, p.name, project).Wrap(ptyexec.Command{Args: []string{"/bin/true"}})
		if err != nil || c.Confine == nil || c.Confine.Processes != maxProcesses {
			t.Errorf("%+v, %v", c.Confine, err)
		}
	})
}

func TestLacks_olderKernel_isSaid(t *testing.T) {
	for version, want := range map[int]string{0: "has no Landlock", 2: "3 is needed (Linux 6.2", 3: "", 5: "", 6: "", 9: ""} {
		err := landlockFits(version)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("version %d: %v", version, err)
		}
		if said := lacks(version); (said == "") != (version >= confine.Scoped) {
			t.Errorf("version %d: %q", version, said)
		}
	}
	landlock := Settings{Sandbox: "landlock"}
	if said := landlock.Lacks(); (said == "") != (confine.Version() >= confine.Scoped) {
		t.Errorf("%q", said)
	}
	if said := (Settings{Sandbox: "bwrap"}).Lacks(); said != "" {
		t.Errorf("%q", said)
	}
}

// A program that is named from the project's folder is the project's, not one of the image.
func TestWrap_programOfTheProject_isStarted(t *testing.T) {
	each(t, func(t *testing.T, p profile) {
		home, project := home(t)
		if err := os.WriteFile(filepath.Join(project, "agent.sh"), []byte("#!/bin/sh\necho it is $1\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		for _, program := range []string{"./agent.sh", "../project/agent.sh", filepath.Join(project, "agent.sh")} {
			c, err := box(t, p.name, project).Wrap(ptyexec.Command{Args: []string{program, "mine"}, Dir: project, Env: append(os.Environ(), "HOME="+home)})
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if _, err := ptyexec.Run(t.Context(), c, func(p []byte) bool { out.Write(p); return false }); err != nil || !strings.Contains(out.String(), "it is mine") {
				t.Errorf("%s: %v\n%s", program, err, out.String())
			}
		}
	})
}
