package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFindProject(t *testing.T) {
	for _, test := range []struct {
		name        string
		dirs, files []string
		start, want string
	}{
		{name: "nothing", dirs: []string{"a/b"}, start: "a/b", want: "a/b"},
		{name: "folder .ralph above", dirs: []string{"a/.ralph", "a/b/c"}, start: "a/b/c", want: "a"},
		{name: "file .ralphrc above", dirs: []string{"a/b/c"}, files: []string{"a/.ralphrc"}, start: "a/b/c", want: "a"},
		{name: "the nearest wins", dirs: []string{"a/.ralph", "a/b/.ralph", "a/b/c"}, start: "a/b/c", want: "a/b"},
		{name: "git root", dirs: []string{"a/.git", "a/b"}, start: "a/b", want: "a"},
		{name: "the inner of two git roots", dirs: []string{"a/.git", "a/b/.git", "a/b/c"}, start: "a/b/c", want: "a/b"},
		{name: "git worktree", dirs: []string{"a/b"}, files: []string{"a/.git"}, start: "a/b", want: "a"},
		{name: ".ralph inside the git root", dirs: []string{"a/.git", "a/b/.ralph", "a/b/c"}, start: "a/b/c", want: "a/b"},
		{name: ".ralph above the git root", dirs: []string{"a/.ralph", "a/b/.git", "a/b/c"}, start: "a/b/c", want: "a"},
		{name: "a file .ralph and a folder .ralphrc do not count", dirs: []string{"a/.ralphrc", "a/b"}, files: []string{"a/.ralph"}, start: "a/b", want: "a/b"},
		{name: "home reached from below", dirs: []string{"home/.ralph", "home/a"}, start: "home/a", want: "home/a"},
		{name: "home itself", dirs: []string{"home/.ralph"}, start: "home", want: "home"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", filepath.Join(root, "home"))
			for _, dir := range test.dirs {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range test.files {
				write(t, root, file, "")
			}
			if got, want := FindProject(filepath.Join(root, test.start)), filepath.Join(root, test.want); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			t.Chdir(filepath.Join(root, test.start))
			if got, want := FindProject("."), filepath.Join(root, test.want); got != want {
				t.Errorf("from .: got %s, want %s", got, want)
			}
		})
	}
}
