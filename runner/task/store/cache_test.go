package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCache_everyChange_isSeen(t *testing.T) {
	dir := t.TempDir()
	for name, texts := range map[string][]string{
		"fix_plan.md":            {"- [ ] a\n", "- [x] a\n", "- [ ] a\n- [ ] b\n", "- [x] a\n", "- [ ] c\n"},
		".kiro/specs/a/tasks.md": {"- [ ] 1. a\n", "- [x] 1. a\n"},
	} {
		f := File{Path: filepath.Join(dir, name), Name: name}
		kept := f
		kept.Cache = new(Cache)
		for _, text := range texts {
			write(t, f.Path, text)
			for range 2 { // the second time, it may come from memory
				if got, want := Read(kept), Read(f); got.List.Wording() != want.List.Wording() || got.Done != want.Done || got.Total != want.Total {
					t.Errorf("%q is read as %+v", text, got)
				}
			}
		}
		if err := os.Remove(f.Path); err != nil {
			t.Fatal(err)
		}
		if got := Read(kept); got.Usable() {
			t.Errorf("removed: %+v", got)
		}
	}
	if got := Read(File{Cache: new(Cache)}); got.Known {
		t.Errorf("no plan: %+v", got)
	}
}

func TestCache_fileThatStaysTheSame_isReadOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for the clock of the file system")
	}
	f := File{Path: filepath.Join(t.TempDir(), "fix_plan.md")}
	write(t, f.Path, "- [ ] a\n")
	c := new(Cache)
	f.Cache = c
	for end := time.Now().Add(10 * settled); c.plan.files == nil || c.plan.files[0].of == (stamp{}); Read(f) { // it settles
		if time.Now().After(end) {
			t.Fatal("it is never kept")
		}
	}
	c.plan.Tasks[0].Title = "kept"
	if got := Read(f).List.Tasks[0].Title; got != "kept" {
		t.Errorf("read again: %q", got)
	}
	now := time.Now().Add(-time.Hour) // as a tool does that keeps the times of a file
	write(t, f.Path, "- [x] a\n")
	if err := os.Chtimes(f.Path, now, now); err != nil {
		t.Fatal(err)
	}
	if got := Read(f); got.Done != 1 {
		t.Errorf("%+v", got)
	}
}
