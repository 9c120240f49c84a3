package logs

import (
	"os"
	"path/filepath"
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
