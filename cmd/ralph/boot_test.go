package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"ralph/internal/unitfile"
)

// boot CODE: starts what the only unit of the user starts, as systemd does after
// a reboot: without a terminal, and with no environment but the unit's own and
// what every login gives. It must end with exactly this code; what it prints is
// in boot.out.
func boot(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	home := ts.Getenv("HOME")
	units, err := filepath.Glob(filepath.Join(home, ".config/systemd/user/*.service"))
	ts.Check(err)
	if len(units) != 1 {
		ts.Fatalf("%d units, want one: %v", len(units), units)
	}
	text, err := os.ReadFile(units[0])
	ts.Check(err)
	unit, err := unitfile.Parse(string(text))
	ts.Check(err)
	p, err := unit.Start()
	ts.Check(err)
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append([]string{"HOME=" + home, "USER=u", "GORACE=" + ts.Getenv("GORACE")}, p.Env...)
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	_ = cmd.Run() // its code is looked at
	ts.Check(os.WriteFile(ts.MkAbs("boot.out"), out.Bytes(), 0o644))
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%q ended with %d, want %d:\n%s", p.Argv, got, want, out)
	}
}
