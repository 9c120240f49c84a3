package turn

// This file finds the process of a program that a sandbox has started.

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/ptyexec"
	"ralph/runner/sandbox"
	"ralph/runner/turn/edits"
)

// placeOf returns the place for a command as Box.Wrap returned it.
func placeOf(b sandbox.Box, c ptyexec.Command) (p edits.Place) {
	p.Below = b.Below()
	if b.InContainer() {
		p.First = func(ctx context.Context) int { return first(ctx, c) }
	}
	return p
}

// engineTimeout limits how long an engine may take to answer.
const engineTimeout = 2 * time.Second

// first asks the engine for the first process of its container. The engine may run on another or a virtual machine, so
// the process counts only if it exists here and runs the command.
func first(ctx context.Context, c ptyexec.Command) int {
	i := slices.Index(c.Args, "--name")
	if i < 0 || i+1 >= len(c.Args) {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	ask := exec.CommandContext(ctx, c.Args[0], "inspect", "--format", "{{.State.Pid}}", c.Args[i+1])
	ask.Env, ask.WaitDelay = c.Env, engineTimeout/10 // children of the engine may keep its output open
	out, err := ask.Output()
	pid, broken := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || broken != nil || pid == 0 || !runs(pid, c.Args[i+2:]) {
		return 0
	}
	return pid
}

// runs reports whether a process is the first one of its namespace, and its arguments are the last of args.
func runs(pid int, args []string) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	status, _ := os.ReadFile(filepath.Join(proc, "status")) // file: of the kernel
	for line := range strings.Lines(string(status)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok && strings.HasSuffix(strings.TrimSpace(ids), "\t1") {
			now, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // file: of the kernel
			_, command, _ := bytes.Cut(now, []byte("\x00--\x00")) // that it starts itself
			return len(command) > 0 &&
				bytes.HasSuffix([]byte(strings.Join(args, "\x00")+"\x00"), append([]byte("\x00"), command...))
		}
	}
	return false
}
