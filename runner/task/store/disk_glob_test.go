package store

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ralph/state/projectfs"
)

func TestMatches_patterns_nameWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a/x/tasks.md", "a-b/x/tasks.md", "x.md", "tasks/tasks.json", "c}/tasks.md"} {
		at := filepath.Join(dir, file)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string][]string{
		"*/x/tasks.md": {"a-b/x/tasks.md", "a/x/tasks.md"}, "*.md": {"x.md"}, "x.md": {"x.md"}, "c}/tasks.md": {"c}/tasks.md"},
		"{tasks.md,tasks/tasks.json,x.md}": {"tasks/tasks.json", "x.md"}, "{*,a/*}/tasks.md": {"a/x/tasks.md", "c}/tasks.md"},
		"*/tasks.json": {"tasks/tasks.json"}, "*/x": {"a/x", "a-b/x"}, "no/*/tasks.md": nil, "*/none.md": nil,
	} {
		var got []string
		for _, at := range matchesIn(projectfs.In(dir), dir, pattern) {
			rel, _ := filepath.Rel(dir, at)
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
