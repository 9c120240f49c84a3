//go:build linux

package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"ralph/internal/world"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/state"
)

// snapshots are the files of which a power cut must leave the old or the new one.
var snapshots = []string{"status.json", ".call_count", ".token_count", ".last_reset", ".circuit_breaker_state",
	".circuit_breaker_history", ".exit_signals", ".response_analysis", ".ralph_session", ".gitignore"}

func TestPowerCut_atAnySystemCall_leavesOldOrNewAndNeverTorn(t *testing.T) {
	world.Long(t, "a state of the disk after each system call")
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	// With fewer than four calls no file is written three times.
	w := newProject(t, "worker", max(4, amount(4, 40)))
	trace := filepath.Join(w.Home, "trace")
	dir := w.Path(".ralph")
	p := w.Start("strace", "-f", "-y", "-xx", "-s", "1000000", "-e", "signal=none", "-e", "trace="+traceCalls, "-o", trace, "ralph", "--continue")
	if code := p.Wait(10 * time.Minute); code != 0 {
		if strings.Contains(strings.ToLower(p.Said()), "ptrace") {
			t.Skipf("strace may not trace here: %s", p.Said())
		}
		t.Fatalf("ended with %d:\n%s", code, p.Said())
	}
	calls := readTrace(t, trace, dir)
	renamed := map[string]int{}
	for _, c := range calls {
		if strings.HasPrefix(c.name, "rename") {
			renamed[c.to]++
		}
	}
	for _, name := range []string{"status.json", ".call_count", ".response_analysis"} {
		if renamed[name] < 3 {
			t.Fatalf("the trace of %d calls shows %d writes of %s: %v", len(calls), renamed[name], name, renamed)
		}
	}
	states, starts := cutEverywhere(t, calls)
	t.Logf("%d system calls; %d contents of single files and %d whole directories were read", len(calls), states, starts)
}

// cutEverywhere cuts the power after each call, and reads every content that may
// then be there, and one directory of those at random.
func cutEverywhere(t *testing.T, calls []call) (contents, directories int) {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 2))
	d := newDisk()
	seen := map[string]bool{}
	for i, c := range calls {
		d.apply(c)
		for _, name := range snapshots {
			for _, data := range d.legal(name) {
				key := name + "\x00" + string(data)
				if data == nil || seen[key] {
					continue
				}
				seen[key] = true
				contents++
				if err := readAlone(t.TempDir(), name, data); err != nil {
					t.Errorf("power cut after call %d (%s %s): %v", i, c.name, c.path, err)
				}
			}
		}
		for range amount(1, 5) {
			directories++
			if err := readTogether(t.TempDir(), d, r); err != nil {
				t.Errorf("power cut after call %d (%s %s): %v", i, c.name, c.path, err)
			}
		}
	}
	return contents, directories
}

// readAlone reads a state directory with one file.
func readAlone(dir, name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		return err
	}
	if name == ".gitignore" && string(data) != state.Gitignore {
		return fmt.Errorf(".gitignore is torn: %q", data)
	}
	if bad := unreadable(dir); len(bad) > 0 {
		return bad[0]
	}
	return nil
}

// readTogether starts a runner on one legal state: nothing may be unusable.
func readTogether(dir string, d *disk, r *rand.Rand) error {
	if err := d.leave(dir, r); err != nil {
		return err
	}
	w, aside, err := state.Acquire(dir, state.Owner{PID: os.Getpid()})
	if err != nil {
		return err
	}
	defer w.Release()
	if len(aside) > 0 {
		return aside[0]
	}
	return nil
}

// The replay itself must see a writer that forgets a step.
func TestReplay_writersThatForgetAStep_areCaught(t *testing.T) {
	const text = `{"state":"OPEN"}`
	name, tmp := ".circuit_breaker_state", ".circuit_breaker_state.1"
	old := []call{{name: "openat", path: name}, {name: "write", path: name, data: []byte(`{"state":"CLOSED"}`)}, {name: "fsync", path: name}}
	writers := map[string]struct {
		torn  bool
		calls []call
	}{
		"temporary, sync, rename": {false, []call{{name: "openat", path: tmp}, {name: "write", path: tmp, data: []byte(text)}, {name: "fsync", path: tmp}, {name: "renameat", path: tmp, to: name}}},
		"no sync":                 {true, []call{{name: "openat", path: tmp}, {name: "write", path: tmp, data: []byte(text)}, {name: "renameat", path: tmp, to: name}}},
		"sync too early":          {true, []call{{name: "openat", path: tmp}, {name: "fsync", path: tmp}, {name: "write", path: tmp, data: []byte(text)}, {name: "renameat", path: tmp, to: name}}},
		"in place":                {true, []call{{name: "openat", path: name, truncate: true}, {name: "write", path: name, data: []byte(text)}, {name: "fsync", path: name}}},
	}
	for _, title := range slices.Sorted(maps.Keys(writers)) {
		row := writers[title]
		d, torn := newDisk(), false
		for _, c := range append(slices.Clone(old), row.calls...) {
			d.apply(c)
			if c.path == name && len(d.versions[name]) == 1 {
				continue // the old one is still on its way
			}
			for _, data := range d.legal(name) {
				torn = torn || data != nil && readAlone(t.TempDir(), name, data) != nil
			}
		}
		if torn != row.torn {
			t.Errorf("%s: torn is %v, want %v", title, torn, row.torn)
		}
	}
}
