package state

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAcquire_temporaryFilesOfAKilledRunner_areRemovedAndNothingElseIs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	w := acquire(t, dir)
	if err := w.Release(); err != nil {
		t.Fatal(err)
	}
	stale := []string{".status.json.ralph0", "..call_count.ralph12", "..gitignore.ralph4611686018427387904"}
	kept := []string{".status.json.ralph", ".status.json12", "..call_count", ".notes12", "notes12", ".call_count.corrupt-20260102T030405.000", "PROMPT.md12"}
	for _, name := range append(stale, kept...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	acquire(t, dir)
	for _, name := range stale {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range kept {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
