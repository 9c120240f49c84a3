package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind_theFirstThatIsThere_elseSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if _, err := Find(dir, ""); err == nil || !strings.Contains(err.Error(), "ralph init") {
		t.Errorf("no prompt: %v", err)
	}
	for _, name := range []string{"prompt.md", "PROMPT.md", ".ralph/PROMPT.md"} { // from weak to strong
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("work\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(dir, ""); got != path && !strings.EqualFold(got, path) || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, path)
		}
	}
	if err := os.Symlink("../prompt.md", filepath.Join(dir, ".ralph/link.md")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ given, want string }{
		{".ralph/link.md", `link.md" is a symbolic link, or in one; name the file itself with --prompt`},
		{"missing.md", `"missing.md" does not exist`}, {".ralph", "not a file"}, {"prompt.md/x", "cannot be read"},
	} {
		if _, err := Find(dir, test.given); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.given, err)
		}
	}
}
