package cmdline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
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

// Wrote records that a person wrote these files in the state directory of the project, for a run
// whose sandbox cannot lock it.
func (f *Factory) Wrote(dir string, names ...string) {
	inProject := make([]string, len(names))
	for i, name := range names {
		inProject[i] = path.Join(state.DirName, name)
	}
	f.WroteInProject(dir, inProject...)
}

// WroteInProject is Wrote for names relative to the project.
func (f *Factory) WroteInProject(dir string, names ...string) {
	record := state.PeopleRecordPath(f.Loader(dir, nil).PlanEditsPath())
	if err := state.RecordPeople(record, dir, names...); err != nil {
		f.Warn(err)
	}
}
