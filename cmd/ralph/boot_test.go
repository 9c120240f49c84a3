package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"mvdan.cc/sh/v3/shell"
)

// boot CODE: starts the program of the user's only unit as systemd does after a
// reboot: without a terminal, with the environment of the unit and of a login. It
// must end with this code. boot.out gets what it prints.
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
	cmd := exec.Command("")
	cmd.Env = []string{"HOME=" + home, "USER=u", "GORACE=" + ts.Getenv("GORACE")}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "%%", "%")) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		// systemd quotes like a shell, but writes $$ for a dollar sign.
		words, err := shell.Fields(strings.ReplaceAll(value, "$$", `\$`), nil)
		switch key {
		case "ExecStart":
			ts.Check(err)
			cmd.Path, cmd.Args = words[0], words
		case "Environment":
			ts.Check(err)
			cmd.Env = append(cmd.Env, words...)
		case "WorkingDirectory":
			cmd.Dir = value
		}
	}
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	_ = cmd.Run() // its code is compared below
	ts.Check(os.WriteFile(ts.MkAbs("boot.out"), out.Bytes(), 0o644))
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%q ended with %d, want %d:\n%s", cmd.Args, got, want, out)
	}
}
