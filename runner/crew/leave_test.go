package crew

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"ralph/internal/world"
	"ralph/ptyexec"
	"ralph/runner/slots"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(world.GitMain(m))
}

// The last step is the branch of the run, which cannot be made beside a branch below its name.
func TestInWorktrees_failsAtItsLastStep_leavesTheFleet(t *testing.T) {
	dir, bin, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	pid := filepath.Join(bin, "pid")
	hub := "#!/bin/sh\necho $$ >" + pid + "\necho '{\"workers\":1,\"slots\":1}'\nexec cat >/dev/null\n"
	if err := os.WriteFile(filepath.Join(bin, "ralph-hub"), []byte(hub), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	for _, args := range []string{"init -q", "commit -q --allow-empty -m first", "branch ralph/20260101-000000-abcd/x"} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	_, _, err := InWorktrees(t.Context(), Options{Dir: dir, Run: "20260101-000000-abcd", Log: hclog.NewNullLogger(),
		Env:         []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH")},
		SlotOptions: slots.SlotOptions{Parallel: 1, Land: slots.LandCheckout, Fleet: "nats://127.0.0.1:1"}})
	if err == nil || !strings.Contains(err.Error(), "make branch ralph/") {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("ralph-hub %d is alive: %v", n, err)
	}
}
