package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/runner/task"
)

// large has a plan of n tasks for each format that is one file.
func large(n int) map[string]string {
	each := func(head, sep, tail string, one func(i int) string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(one(i + 1))
		}
		return b.String() + tail
	}
	return map[string]string{
		"fix_plan.md": each("# Plan\n\n", "", "", func(i int) string { return fmt.Sprintf("- [ ] T%d: build part %d of the thing\n  - it works\n", i, i) }),
		".kiro/specs/a/tasks.md": each("# Plan\n\n", "", "", func(i int) string {
			return fmt.Sprintf("- [ ] %d.%d Build part %d\n  - it works\n  - _Requirements: 1.1_\n", i/9+1, i%9+1, i)
		}),
		"specs/a/tasks.md": each("## Phase 1\n\n", "", "", func(i int) string { return fmt.Sprintf("- [ ] T%05d [P] [US1] Build part %d\n", i, i) }),
		"prd.json": each(`{"userStories": [`, ",\n", "]}\n", func(i int) string {
			return fmt.Sprintf(`{"id": "US-%d", "title": "Build part %d", "priority": %d, "acceptanceCriteria": ["it works"], "passes": false}`, i, i, i)
		}),
		".taskmaster/tasks/tasks.json": each(`{"master": {"tasks": [`, ",\n", "]}}\n", func(i int) string {
			return fmt.Sprintf(`{"id": %d, "title": "Build part %d", "status": "pending", "dependencies": [%d], "subtasks": []}`, i, i, max(1, i-1))
		}),
		"sprint-status.yaml": each("development_status:\n", "", "", func(i int) string { return fmt.Sprintf("  %d-%d-build-part: ready-for-dev\n", i/9+1, i) }),
	}
}

func TestLoad_20000Tasks_areReadAndEditedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a large plan")
	}
	dir := t.TempDir()
	for name, text := range large(20_000) {
		path := filepath.Join(dir, name)
		write(t, path, text)
		start := time.Now()
		list, err := Load(File{Path: path})
		took := time.Since(start)
		if err != nil || len(list.Tasks) != 20_000 {
			t.Fatalf("%s: %d tasks, %v", name, len(list.Tasks), err)
		}
		list.Next()
		list.Blocked()
		list.Problems()
		think := time.Since(start) - took
		start = time.Now()
		if err := Set(File{Path: path}, list.Tasks[19_000], task.Done); err != nil {
			t.Fatal(err)
		}
		edit := time.Since(start)
		t.Logf("%-30s read %v, chosen %v, edited %v", name, took, think, edit)
		if took+think+edit > 20*time.Second { // the exact figures are those of make bench
			t.Errorf("%s: read in %v, next in %v, edited in %v", name, took, think, edit)
		}
	}
}

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
			for cut := 0; cut < len(file.Data); cut += 1 + len(file.Data)/40 {
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
