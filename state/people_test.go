package state

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A large file is recorded like any other, and what follows does not push it out while a call may still run.
func TestRecord_aLargeFile_isKeptWhileItMayCount(t *testing.T) {
	dir, record := t.TempDir(), filepath.Join(t.TempDir(), "p.people.jsonl")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begun, large := time.Now(), strings.Repeat("a lesson\n", 200_000)
	put("large", large)
	put("small", "x")
	if err := RecordPeople(record, dir, "large"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := RecordPeople(record, dir, "small", "missing"); err != nil {
			t.Fatal(err)
		}
	}
	all := PeopleSince(record, begun)
	if !bytes.Equal(all["large"].Data, []byte(large)) || string(all["small"].Data) != "x" || all["missing"].Data != nil || len(all) != 3 {
		t.Errorf("%d files, %d bytes of the large one", len(all), len(all["large"].Data))
	}
}

// The record does not grow for ever.
func TestRecord_whatIsOld_goes(t *testing.T) {
	dir, record := t.TempDir(), filepath.Join(t.TempDir(), "p.people.jsonl")
	old := `{"at":"2020-01-01T00:00:00Z","name":"old","data":"` + strings.Repeat("AAAA", 300_000) + "\"}\n"
	if err := os.WriteFile(record, []byte("not JSON\n"+old), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RecordPeople(record, dir, "new"); err != nil {
		t.Fatal(err)
	}
	if all := PeopleSince(record, time.Time{}); len(all) != 1 {
		t.Errorf("%d files", len(all))
	}
}
