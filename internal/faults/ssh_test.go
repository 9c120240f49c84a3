//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/internal/world"
)

// sshText plays ssh as far as ralph uses it: options, --, the host, and words that the shell of another home runs there. The
// process there is in no group or session of its caller, as on another machine.
const sshText = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2; shift 2
[ "$host" = down ] && { echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255; }
export HOME="$HOME/$host" ` + machineVar + `="$host"
there=$PATH
[ "$host" = bare ] && there=/none
mkdir -p "$HOME"; cd; echo "Welcome to $host"
exec setsid -w sh -c "PATH=$there; $*"
`

// newSSH is a project whose user has an ssh to hosts that are homes below the user's own.
func newSSH(t *testing.T, act string, boxes int) *fleet {
	t.Helper()
	f := &fleet{project: newProject(t, act, boxes)}
	bin := filepath.Join(f.Home, "bin")
	f.Do(os.MkdirAll(bin, 0o700))
	f.Do(os.WriteFile(filepath.Join(bin, "ssh"), []byte(sshText), 0o700))
	for i, e := range f.Env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			f.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	f.Env = append(f.Env, "PARALLEL_ANY=true", "TEST_COMMAND=true", machineVar+"=run")
	return f
}

// The program on the other machine is killed, and then the run: nothing is lost, and nothing stays there.
func TestSSH_killedThereAndHere_nothingIsLostAndNothingLeft(t *testing.T) {
	world.Long(t, "worktrees")
	t.Parallel()
	f := newSSH(t, "odd", 6)
	works := func() (pid int) { // ralph turn --away, whose agent works
		for pid, line := range f.Living() {
			if strings.HasPrefix(line, "ralph turn --away") && f.triedOn("0") > 0 {
				return pid
			}
		}
		return 0
	}
	run := f.ralph("--workers", "local:1 ssh:0:2")
	f.Until("an agent works there", func() bool { return works() > 0 }, run.Said)
	before := f.triedOn("0")
	_ = syscall.Kill(works(), syscall.SIGKILL)
	f.Until("a turn begins there again", func() bool { return f.triedOn("0") > before }, run.Said)
	f.kill(run)
	f.NoneLeft(leftBound + 10*time.Second)
	f.ralph("resume", "--workers", "local:1 ssh:0:2").Ends(0)
	f.wantAllOnce()
	f.NoneLeft(leftBound)
}

func TestSSH_hostThatCannotBeUsed_isOneLine(t *testing.T) {
	world.Long(t, "worktrees")
	t.Parallel()
	f := newSSH(t, "beside", 1)
	for host, want := range map[string]string{
		"down": "the worker down cannot be used: ssh: connect to host down port 22: Connection refused",
		"bare": "the worker bare cannot be used: sh: ",
	} {
		p := f.ralph("--workers", "ssh:"+host+":2")
		p.Ends(2)
		if !strings.Contains(p.Said(), want) {
			t.Errorf("%s does not say %q:\n%s", host, want, p.Said())
		}
	}
	if calls := f.entries("call"); len(calls) > 0 {
		t.Errorf("the agent was called: %v", calls)
	}
}
