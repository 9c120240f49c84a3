package turn_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/gate"
)

// The agent may find the value in a file: that its variable is withheld does not help.
func TestRun_valueOfAWithheldVariable_isHiddenInAllThatIsKept(t *testing.T) {
	const value = "swordfish & chips"
	t.Setenv("SHOP_DB_PASSWORD", value)
	a := scripted.Project(t, []scripted.Step{{Do: "tool", Text: "echo " + value}, {Do: "final", Text: "It is " + value + "."}})
	a.Prompt.Template = "Do it with " + value + "."
	a.Checks.Rows = append(a.Checks.Rows, gate.Check{Name: "says", Command: "echo '" + value + "'; exit 1"})
	s := here(t, a)
	for _, e := range s.Events {
		if text := fmt.Sprintf("%+v", e); strings.Contains(text, value) && !strings.Contains(text, "echo '"+value) {
			t.Errorf("%T shows it: %s", e, text)
		}
	}
	files := 0
	_ = filepath.WalkDir(a.LogDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "swordfish") || !strings.Contains(string(data), "...(redacted)") {
			t.Errorf("%s, %v:\n%s", filepath.Base(path), err, data)
		}
		return nil
	})
	if files != 2 {
		t.Errorf("%d files, want the prompt and the raw output", files)
	}
}
