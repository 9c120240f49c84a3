package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLocate_givenOrFound_elseSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if list, err := Locate(dir, "", nil); list.Path != "" || err != nil {
		t.Errorf("no plan: %q, %v", list.Path, err)
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
		list, err := Locate(dir, test.given, nil)
		if test.problem != "" {
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%q: %v", test.given, err)
			}
		} else if err != nil || list.Path != filepath.Join(dir, test.path) {
			t.Errorf("%q: %q, %v", test.given, list.Path, err)
		}
	}
}

func TestLocate_folder_isThePlanOrNamedAsNone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".kiro/specs/a/tasks.md": "- [ ] 1. x\n", "backlog/tasks/t.md": "---\nid: a\nstatus: Done\n---\n", "empty/readme.txt": "x",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	if list, err := Locate(dir, "backlog", nil); err != nil || list.Path != filepath.Join(dir, "backlog") {
		t.Errorf("%q, %v", list.Path, err)
	}
	for _, given := range []string{"empty", ".kiro/specs/a"} {
		if _, err := Locate(dir, given, nil); err == nil || !strings.Contains(err.Error(), "has no plan in a format that ralph knows; name a file") {
			t.Errorf("%s: %v", given, err)
		}
	}
}

func TestLocate_aLinkToNothing_isNotPassedOver(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("gone.md", filepath.Join(dir, "fix_plan.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := Locate(dir, "", nil); err == nil || !strings.Contains(err.Error(), `fix_plan.md" is a symbolic link; ralph uses only a plain file here; name the file itself with --plan`) {
		t.Error(err)
	}
}

func TestLocate_aFolderInPlaceOfThePlan_isNotPassedOver(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ralph", "fix_plan.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Locate(dir, "", nil); err == nil || !strings.Contains(err.Error(), `fix_plan.md" has no plan in a format that ralph knows`) {
		t.Error(err)
	}
}

func TestFind_featuresThatAreFinished_comeLast(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"one is finished": {map[string]string{".kiro/specs/a/tasks.md": "- [x] 1. x\n", ".kiro/specs/b/tasks.md": "- [ ] 1. y\n"}, ".kiro/specs/b/tasks.md"},
		"one waits": {map[string]string{"_bmad-output/implementation-artifacts/a.md": "---\ntitle: a\nstatus: awaiting-operator\n---\n\n<intent-contract>\n</intent-contract>\n",
			"_bmad-output/implementation-artifacts/b.md": "---\ntitle: a\nstatus: ready-for-dev\n---\n\n<intent-contract>\n</intent-contract>\n"}, "_bmad-output/implementation-artifacts/b.md"},
		"all are":           {map[string]string{"openspec/changes/a/tasks.md": "- [x] 1.1 x\n", "openspec/changes/b/tasks.md": "- [x] 1.1 y\n"}, "openspec/changes/a/tasks.md"},
		"none is":           {map[string]string{"openspec/changes/a/tasks.md": "- [ ] 1.1 x\n", "openspec/changes/b/tasks.md": "- [ ] 1.1 y\n"}, "openspec/changes/a/tasks.md"},
		"features":          {map[string]string{".specify/x": "", "specs/001/tasks.md": "- [x] T001 x\n", "specs/002/tasks.md": "- [ ] T001 y\n"}, "specs/002/tasks.md"},
		"nothing is in one": {map[string]string{".kiro/specs/a/tasks.md": "# soon\n", ".kiro/specs/b/tasks.md": "- [ ] 1. y\n"}, ".kiro/specs/a/tasks.md"},
		"all but optional":  {map[string]string{".kiro/specs/a/tasks.md": "- [x] 1. x\n\n## Later\n- [ ] 2. z\n", ".kiro/specs/b/tasks.md": "- [ ] 1. y\n"}, ".kiro/specs/b/tasks.md"},
		"another place":     {map[string]string{".ralph/fix_plan.md": "- [x] a\n", "fix_plan.md": "- [ ] b\n"}, ".ralph/fix_plan.md"},
		"another format":    {map[string]string{"prd.json": `{"userStories": [{"id": "a", "title": "a", "passes": true}]}`, "openspec/changes/b/tasks.md": "- [ ] 1.1 y\n"}, "prd.json"},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			write(t, filepath.Join(dir, file), text)
		}
		if got, ok := Find(dir, []string{"Later"}); !ok || got != filepath.Join(dir, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAll_manyFeatures_areListedOnceInOrder(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		mark := "x"
		if i%3 == 0 {
			mark = " "
		}
		write(t, filepath.Join(dir, fmt.Sprintf("openspec/changes/c%03d/tasks.md", i)), "- ["+mark+"] 1.1 x\n")
	}
	if err := os.MkdirAll(filepath.Join(dir, "openspec/changes/linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("gone.md", filepath.Join(dir, "openspec/changes/linked/tasks.md")); err != nil {
		t.Fatal(err)
	}
	var open, finished []string
	for _, found := range All(dir, nil) {
		if strings.Contains(found.Path, "linked") {
			continue // reading it names the link
		}
		list, err := Load(At(dir, found.Path, nil))
		if err != nil {
			t.Error(err)
		}
		if list.Remaining() > 0 {
			open = append(open, found.Path)
		} else {
			finished = append(finished, found.Path)
		}
	}
	if len(open) != 100 || len(finished) != 200 || !slices.IsSorted(open) || !slices.IsSorted(finished) {
		t.Errorf("%d open, %d finished", len(open), len(finished))
	}
	if name, _ := ProgramOf(dir, ""); name != "" {
		t.Errorf("kept by %s", name)
	}
}
