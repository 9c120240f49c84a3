package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLoad_hostilePlans_endInTime(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("[", 1<<20)
	nested := make([]string, 2000)
	for i := range nested {
		nested[i] = strings.Repeat(" ", i) + "- [ ] a\n"
	}
	for name, text := range map[string]string{
		"deep.json": deep, "prd.json": `{"userStories": ` + deep, "sub/tasks.json": `{"a":` + strings.Repeat(`{"a":`, 1<<18),
		"fix_plan.md": strings.Join(nested, ""), "a/sprint-status.yaml": "development_status: " + strings.Repeat("{a: ", 2000),
		"b/sprint-status.yaml":      "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ndevelopment_status: {}\n",
		"docs/stories/1.1.story.md": "---\n" + strings.Repeat("a:\n ", 500) + "\n---\n# A\n## Status\n" + strings.Repeat("Ready-", 2000) + "\n",
	} {
		write(t, filepath.Join(dir, name), text)
		start := time.Now()
		list, err := Load(File{Path: filepath.Join(dir, name)})
		list.Next()
		list.Blocked()
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %v, %v", name, took, err)
		}
	}
}

func TestLoad_linksAndPipesInAFolder_areNotFollowed(t *testing.T) {
	dir := t.TempDir()
	stories := filepath.Join(dir, "docs/stories")
	write(t, filepath.Join(stories, "1.1.story.md"), "# A\n## Status\nReady\n")
	write(t, filepath.Join(dir, "secret.md"), "# B\n## Status\nReady\n")
	for name, target := range map[string]string{"1.2.story.md": "../../secret.md", "loop": ".", "gone.story.md": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(stories, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(stories, "1.3.story.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Load(File{Path: stories})
	if err != nil || len(list.Tasks) != 1 {
		t.Errorf("%+v, %v", list.Tasks, err)
	}
	if _, err := Load(File{Path: filepath.Join(stories, "1.3.story.md")}); err == nil || !strings.Contains(err.Error(), "is a FIFO; ralph uses only a plain file here") {
		t.Errorf("a pipe: %v", err)
	}
}

func TestLoad_cutOffFiles_areReadOrRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long: files that end anywhere")
	}
	for _, f := range fixtures(t) {
		dir := f.project(t, same)
		for _, file := range f.archive.Files {
			for cut := 0; cut < len(file.Data); cut += 1 + len(file.Data)/12 {
				write(t, filepath.Join(dir, file.Name), string(file.Data[:cut]))
				for _, found := range All(dir, nil) {
					list, _ := Load(File{Path: found.Path})
					list.Next()
					list.Problems()
				}
			}
			write(t, filepath.Join(dir, file.Name), string(file.Data))
		}
	}
}
