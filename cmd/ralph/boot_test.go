package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// boot CODE: resumes an interrupted run as a service manager does after a reboot: without a terminal, with the
// environment of a login. It must end with this code. boot.out gets what it prints.
func boot(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	out := &bytes.Buffer{}
	var path string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "ralph")); err == nil {
			path = filepath.Join(dir, "ralph")
			break
		}
	}
	cmd := exec.Command(path, "resume", "--unfinished")
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "USER=u", "PATH=" + ts.Getenv("PATH"), "GORACE=" + ts.Getenv("GORACE")}
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, out
	_ = cmd.Run() // its code is compared below
	ts.Check(os.WriteFile(ts.MkAbs("boot.out"), out.Bytes(), 0o644))
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%q ended with %d, want %d:\n%s", cmd.Args, got, want, out)
	}
}
