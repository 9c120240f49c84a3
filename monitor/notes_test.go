package monitor

import (
	"os"
	"path/filepath"
	"testing"

	"ralph/state"
	asked "ralph/state/question"
)

func TestNoteSign_openQuestion_isCountedUntilItIsAnswered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ralph")
	if err := os.MkdirAll(filepath.Join(dir, "questions"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := state.Open(dir)
	var n noteSign
	if n = n.read(r); n.text() != "" {
		t.Errorf("nothing is asked: %q", n.text())
	}
	q, err := asked.In(r).Add(asked.Question{Text: "SQLite?"})
	if err != nil {
		t.Fatal(err)
	}
	if n = n.read(r); n.text() != "1 question waits" {
		t.Errorf("asked: %q", n.text())
	}
	if _, err := asked.In(r).Answered(q.ID, "yes", "test"); err != nil {
		t.Fatal(err)
	}
	if n = n.read(r); n.text() != "" {
		t.Errorf("answered: %q", n.text())
	}
}
