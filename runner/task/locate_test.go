package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLocate_givenOrFound_elseSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if path, err := Locate(dir, "", nil); path != "" || err != nil {
		t.Errorf("no plan: %q, %v", path, err)
	}
	for name, text := range map[string]string{"fix_plan.md": "- [ ] a\n", "other.md": "- [ ] b\n", "bad.json": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ given, path, problem string }{
		{"", "fix_plan.md", ""},
		{"other.md", "other.md", ""},
		{"missing.md", "", `the plan "missing.md" does not exist`},
		{"bad.json", "", "the plan cannot be used"},
	} {
		path, err := Locate(dir, test.given, nil)
		if test.problem != "" {
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%q: %v", test.given, err)
			}
		} else if err != nil || path != filepath.Join(dir, test.path) {
			t.Errorf("%q: %q, %v", test.given, path, err)
		}
	}
}
