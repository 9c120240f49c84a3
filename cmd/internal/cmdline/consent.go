package cmdline

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
	"ralph/state"
)

// withoutLink refuses a link or a file in place of a project's .ralph: in a cloned
// repository, somebody else chose where a link leads.
func withoutLink(dir string) (string, error) {
	path := filepath.Join(dir, state.DirName)
	info, err := os.Lstat(path)
	switch {
	case err != nil || info.IsDir():
		return dir, nil
	case info.Mode()&os.ModeSymlink != 0:
		return "", UsageError("%q is a symbolic link, and ralph does not follow it; replace it with a folder", path)
	}
	return "", UsageError("%q is not a folder; ralph keeps its state there: move it away", path)
}

// Lines are the lines of all claims.
func Lines(all []config.Untrusted) (lines []string) {
	for _, u := range all {
		lines = append(lines, u.Lines...)
	}
	return lines
}

// ShowClaims prints what a person is about to be asked for.
func (f *Factory) ShowClaims(all []config.Untrusted) {
	f.Note("%s\n%s", strings.Join(f.wrap("this project needs your consent: what follows decides which programs "+
		"ralph runs, what the agent may do, which secrets it gets, or how its work is judged:", 0), "\n"), f.Claims(all))
}

// Claims are the lines of all claims, indented and wrapped on a terminal.
func (f *Factory) Claims(all []config.Untrusted) string {
	lines := termtext.Each(Lines(all), func(line string) string { return "  " + strings.Join(f.wrap(line, 4), "\n    ") })
	return strings.Join(lines, "\n")
}

// wrap breaks a text at blanks, so that each line and its indentation fit on the terminal.
func (f *Factory) wrap(text string, indented int) []string {
	width := cmp.Or(f.Width(), math.MaxInt)
	return termtext.Wrap(Inert(text), max(width-indented, 1))
}

// Trust makes sure that this user agrees with what the project says about
// programs, rights, secrets and proof, and with more: it asks on a terminal and
// refuses without one.
func (f *Factory) Trust(loader config.Loader, more ...config.Untrusted) error {
	all, err := loader.Untrusted(more...)
	if err != nil || len(all) == 0 {
		return err
	}
	if f.Shows {
		f.Warn("a run needs your consent first: " + strings.Join(Lines(all), "; ") + "; agree with: ralph trust")
		return nil
	}
	if !f.CanAsk() {
		return UsageError("this project needs your consent first: %s; show it and agree with: ralph trust",
			strings.Join(Lines(all), "; "))
	}
	f.ShowClaims(all)
	if !f.Agree("Allow it until it changes?") {
		return UsageError("not trusted; nothing was run")
	}
	return f.Record(loader, all)
}

// Record remembers the user's consent. An agent cannot give it.
func (f *Factory) Record(loader config.Loader, all []config.Untrusted) error {
	if err := f.RefuseAgent(loader.Dir, "agree"); err != nil {
		return err
	}
	for _, u := range all {
		if err := loader.Trust(u); err != nil {
			return err
		}
	}
	return nil
}

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

// AsPerson opens the state of the project for a verb that agents must not call; what as for RefuseAgent.
func (f *Factory) AsPerson(what string) (r *state.Reader, dir string, err error) {
	if r, dir, err = f.Reader(); err == nil {
		err = f.RefuseAgent(dir, what)
	}
	return r, dir, err
}

// Wrote records that a person wrote these files in the state directory of the project, for a run
// whose sandbox cannot lock it.
func (f *Factory) Wrote(dir string, names ...string) {
	f.WroteInProject(dir, termtext.Each(names, func(name string) string { return path.Join(state.DirName, name) })...)
}

// WroteInProject is Wrote for names relative to the project.
func (f *Factory) WroteInProject(dir string, names ...string) {
	record := state.PeopleRecordPath(f.Loader(dir, nil).PlanEditsPath())
	if err := state.RecordPeople(record, dir, names...); err != nil {
		f.Warn(err)
	}
}
