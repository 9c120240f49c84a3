package cmdline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ralph/state"
)

// Inside returns the run whose agent, or check, started this process; empty: as far
// as ralph can tell, a person did. An agent can remove the variable, but cannot hide
// its ancestors while they live.
func (f *Factory) Inside(dir string) (run string) {
	for _, pair := range f.Env {
		if value, ok := strings.CutPrefix(pair, state.InsideVar+"="); ok {
			run = value
		}
	}
	if owner, alive := OpenState(dir).Owner(); run == "" && alive && descends(owner.PID) {
		run = owner.RunID
	}
	return run
}

// descends reports whether this process has such an ancestor.
func descends(ancestor int) bool {
	parents := map[int]int{} // as ps knows them; filled where there is no /proc
	for pid := os.Getppid(); pid > 1; pid = parent(pid, parents) {
		if pid == ancestor {
			return true
		}
	}
	return false
}

// parent is the parent of a process; 0: unknown.
func parent(pid int, all map[int]int) (ppid int) {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil { // file: of the kernel
		// The name of the program may contain anything, even parentheses. The state
		// and the parent follow it.
		if rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(rest) > 1 {
			ppid, _ = strconv.Atoi(rest[1])
		}
		return ppid
	}
	if len(all) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, _ := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=").Output()
		for line := range strings.Lines(string(out)) {
			var one, its int
			if n, _ := fmt.Sscan(line, &one, &its); n == 2 {
				all[one] = its
			}
		}
		all[0] = 0 // asked once
	}
	return all[pid]
}

// RefuseAgent returns an error if an agent calls. what completes "an agent cannot ...".
func (f *Factory) RefuseAgent(dir, what string) error {
	if run := f.Inside(dir); run != "" {
		return UsageError("this is inside of run %s, and an agent cannot %s; do it in a terminal of your own", run,
			what)
	}
	return nil
}
