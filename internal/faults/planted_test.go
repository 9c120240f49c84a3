//go:build linux

package faults

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/state"
)

// plantings are what a clone may bring along, or an agent may leave, in the place of a file or a folder.
var plantings = []struct {
	name  string
	named bool // a line names it
	plant func(path, outside string) error
}{
	{"link to a file", true, func(path, outside string) error { return os.Symlink(filepath.Join(outside, "notes"), path) }},
	{"link to a folder", true, func(path, outside string) error { return os.Symlink(outside, path) }},
	{"link to nothing", true, func(path, outside string) error { return os.Symlink(filepath.Join(outside, "none"), path) }},
	{"FIFO", true, func(path, _ string) error { return syscall.Mkfifo(path, 0o600) }},
	// Sandboxes put sockets where files are missing, so they count as missing.
	{"socket", false, func(path, _ string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) }},
	{"folder", false, func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) }},
	{"3 GB", false, func(path, _ string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 3<<30))
	}},
}

// aRun fills a project with all that a run writes: two runs on two branches, with tasks that leave the plan. It returns
// the slash paths of what ralph wrote.
func (w *project) aRun(t *testing.T) (written []string) {
	t.Helper()
	w.Env = append(w.Env, "POP_TASKS=true", "TEST_COMMAND=true")
	w.ralph().Wait(2 * time.Minute)
	w.Git("checkout", "-q", "-b", "other")
	w.refill(1)
	w.ralph().Wait(2 * time.Minute)
	w.Git("checkout", "-q", "-b", "third")
	err := fs.WalkDir(os.DirFS(w.Path(".")), ".ralph", func(path string, _ fs.DirEntry, err error) error {
		written = append(written, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range state.Files() { // what no run of the test writes
		name := ".ralph/" + strings.TrimSuffix(row.Name, "/")
		if !strings.ContainsFunc(row.Name, func(c rune) bool { return c >= 'A' && c <= 'Z' }) && !slices.Contains(written, name) {
			written = append(written, name)
		}
	}
	return written
}

// ofRun reports whether a path is of one run that is over: no later run uses it.
func ofRun(path string) bool { return strings.ContainsAny(path, "0123456789") }

func TestPlanted_inPlaceOfEachFile_writesNothingOutsideAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	every := len(plantings) // each file once, and each kind equally often
	switch {
	case testing.Short():
		every *= 5
	case longForm:
		every = 1
	}
	w := newProject(t, "honest", 2)
	template, outside := filepath.Join(w.Home, "template"), filepath.Join(w.Home, "outside")
	written := w.aRun(t)
	copyAll := func(from, to string) {
		t.Helper()
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	copyAll(w.Path("."), template)
	cases := 0
	for i, path := range written {
		for j, p := range plantings {
			if (i+j)%every != 0 {
				continue
			}
			cases++
			if err := errors.Join(os.RemoveAll(w.Path(".")), os.RemoveAll(outside)); err != nil {
				t.Fatal(err)
			}
			copyAll(template, w.Path("."))
			w.Write("../outside/notes", "mine\n")
			w.refill(1)
			at := w.Path(path)
			if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755), p.plant(at, outside)); err != nil {
				t.Fatal(err)
			}
			where := path + ": " + p.name
			for _, verb := range []string{"status", "runs", "iterations"} {
				if code := w.ralph(verb).Wait(2 * time.Minute); code < 0 || code > 9 {
					t.Errorf("%s: %s ended with %d", where, verb, code)
				}
			}
			run := w.ralph()
			code, said := run.Wait(2*time.Minute), run.Said()
			if code < 0 || code > 9 || code == 1 {
				t.Errorf("%s: ended with %d:\n%s", where, code, said)
			}
			lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool {
				return !strings.Contains(line, path+`"`)
			})
			if p.named && !ofRun(path) && len(lines) != 1 {
				t.Errorf("%s: named in %d lines:\n%s", where, len(lines), said)
			}
			entries, err := os.ReadDir(outside)
			text, readErr := os.ReadFile(filepath.Join(outside, "notes"))
			if err != nil || readErr != nil || len(entries) != 1 || string(text) != "mine\n" {
				t.Errorf("%s: outside are %v with %.100q, %v, %v", where, entries, text, err, readErr)
			}
			if mem := peak(run); mem > 300 {
				t.Errorf("%s: %d MiB of memory", where, mem)
			}
		}
	}
	t.Logf("%d paths, %d cases", len(written), cases)
}
