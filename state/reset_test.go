package state

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResetAll_questionsAndNotes_areForgotten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	w := acquire(t, dir)
	mine := filepath.Join(dir, "mine.txt")
	for _, name := range []string{filepath.Join(dir, QuestionFile("q")), filepath.Join(dir, NoteFile("n")), filepath.Join(dir, UseFile), mine} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.ResetAll(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{QuestionFile("q"): false, NoteFile("n"): false, UseFile: false, "mine.txt": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrite_fails_namesTheFileAndNotTheTemporaryOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	w := acquire(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	want := "write state: open " + filepath.Join(dir, "status.json") + ": no such file or directory"
	if err := w.SaveStatus(Status{RunID: "a"}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
