package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/runner/memory"
	"ralph/state/projectfs"
)

func TestPropose_whatManyTasksUsed_goesIntoTheDocumentOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"web/AGENTS.md": "# Web\n\n## Learned\n\n- old\n\n## Other\n", "CLAUDE.md": "root\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	lesson := func(text string, users int, paths ...string) memory.Lesson {
		l := memory.New(text, memory.Pattern, time.Now())
		l.UsedBy, l.Paths, l.Turns = []string{"A", "B", "C"}[:users], paths, []memory.Turn{{Run: "r", Iteration: 1}}
		return l
	}
	all := []memory.Lesson{lesson("web fact", 3, "web/src/a.ts", "web/lib/b.ts"), lesson("root fact", 3, "web/a.ts", "lib/b.go"), lesson("seldom", 2)}
	if _, err := memory.Save(dir, nil, all); err != nil {
		t.Fatal(err)
	}
	list, err := proposals(projectfs.In(dir), all)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	out, code := learn(t, dir, nil, "propose", "--yes")
	want := "--- a/web/AGENTS.md\n+++ b/web/AGENTS.md\n@@ -4,0 +5,1 @@\n+- web fact\nchanged web/AGENTS.md\n" +
		"--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1,0 +2,4 @@\n+\n+## Learned\n+\n+- root fact\nchanged CLAUDE.md\n"
	if code != 0 || out != want {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	for name, want := range map[string]string{"web/AGENTS.md": "# Web\n\n## Learned\n\n- web fact\n- old\n\n## Other\n", "CLAUDE.md": "root\n\n## Learned\n\n- root fact\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
	if out, code := learn(t, dir, nil, "propose", "--yes"); code != 0 || !strings.Contains(out, "nothing to propose") {
		t.Errorf("again: exit code %d: %s", code, out)
	}
	if err := list[1].accept(dir); err == nil || !strings.Contains(err.Error(), "CLAUDE.md has changed meanwhile") {
		t.Errorf("what somebody else wrote meanwhile is overwritten: %v", err)
	}
}
