package steer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
)

func TestChanged_whatTheUserWroteIntoDotRalph_isComparedByContent(t *testing.T) {
	dir := world.Project(t, map[string]string{
		".ralphrc": "A=1\n", ".ralph/config.yaml": "x", ".ralph/PROMPT.md": "p", ".ralph/specs/a.md": "a", ".ralph/specs/sub/b.bin": "\xff1",
		".git/config": "[core]\n", ".git/hooks/pre-push.sample": "", ".git/HEAD": "ref",
		".git/modules/lib/a/config": "[core]\n", ".git/modules/lib/a/hooks/pre-push.sample": "", ".git/modules/lib/a/HEAD": "ref",
		".git/modules/lib/a/objects/config": "x",
		".ralph/fix_plan.md":                "- [ ] one\n", ".ralph/status.json": "{}", "code.go": "",
	})
	before := Read(dir)
	if changed := before.Changed(Read(dir)); changed != nil {
		t.Errorf("nothing changed: %+v", changed)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".ralphrc", ".ralph/fix_plan.md", ".ralph/status.json", "code.go", ".ralph/specs/new.md", ".git/HEAD",
		".git/hooks/pre-commit", ".git/hooks/pre-push.sample", ".mcp.json", ".git/modules/lib/a/config", ".git/modules/lib/a/HEAD",
		".git/modules/lib/a/hooks/pre-push", ".git/modules/lib/a/objects/config"} {
		write(name, "B=2\n")
	}
	write(".ralph/specs/sub/b.bin", "\xff2")
	if err := os.Remove(filepath.Join(dir, ".ralph/config.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ".ralph/PROMPT.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../code.go", filepath.Join(dir, ".ralph/PROMPT.md")); err != nil {
		t.Fatal(err)
	}
	changed := before.Changed(Read(dir))
	for i := range changed {
		if strings.HasSuffix(changed[i].Path, ".bin") {
			changed[i].Before, changed[i].After = "", ""
		}
	}
	want := []File{
		{".git/hooks/pre-commit", "", "B=2\n", false, true},
		{".git/modules/lib/a/config", "[core]\n", "B=2\n", true, true},
		{".git/modules/lib/a/hooks/pre-push", "", "B=2\n", false, true},
		{".mcp.json", "", "B=2\n", false, true},
		{".ralph/PROMPT.md", "p", "a link to ../code.go", true, true},
		{".ralph/config.yaml", "x", "", true, false},
		{".ralph/specs/new.md", "", "B=2\n", false, true},
		{".ralph/specs/sub/b.bin", "", "", true, true},
		{".ralphrc", "A=1\n", "B=2\n", true, true},
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
}
