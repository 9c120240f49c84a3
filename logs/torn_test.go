package logs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenFile_lastLine_isEndedOnlyWhereItIsTorn(t *testing.T) {
	for before, want := range map[string]string{
		"":                    "new\n",
		"whole\n":             "whole\nnew\n",
		"whole\n{\"kind\":\"": "whole\n{\"kind\":\"\nnew\n",
	} {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFile(path, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new\n")); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("after %q: %q, want %q", before, got, want)
		}
	}
}

func TestReopen_linkInPlaceOfTheLog_isReplacedAndNotFollowed(t *testing.T) {
	dir := t.TempDir()
	path, outside := filepath.Join(dir, "live.log"), filepath.Join(dir, "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	link := func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, path); err != nil {
			t.Fatal(err)
		}
	}
	link() // before the first write
	if _, err := f.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.Reopen(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "two\n" {
		t.Errorf("the log holds %q", got)
	}
	if got, _ := os.ReadFile(outside); string(got) != "mine" {
		t.Errorf("the file outside holds %q", got)
	}
}

func TestWrite_manyRecordsAndRotations_noRecordIsCutInTwo(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenFile(filepath.Join(dir, "events.jsonl"), 1, 50)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for i := range 3000 {
		record := "{" + strings.Repeat("x", i*7919%40_000%(1+i)) + "}\n"
		if _, err := f.Write([]byte(record)); err != nil {
			t.Fatal(err)
		}
		written++
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "events*.jsonl"))
	if err != nil || len(files) < 3 {
		t.Fatalf("only %d files, %v: nothing was rotated", len(files), err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if line[0] != '{' || !strings.HasSuffix(line, "}\n") {
				t.Fatalf("%s has a piece of a record: %.20q...%.20q", filepath.Base(path), line, line[max(0, len(line)-20):])
			}
			written--
		}
	}
	if written != 0 {
		t.Errorf("%d records are lost", written)
	}
}

func TestRotate_tornLine_staysInTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte("{\"kind\":\""), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Rotate(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new\n" {
		t.Errorf("the new file holds %q", got)
	}
}
