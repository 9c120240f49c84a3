package protect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/task/store"
)

// A person and a call change the same plan: nothing of either is lost without a word.
func TestGraft_bothHaveChangedThePlan_neitherIsLost(t *testing.T) {
	const base = "# Plan\n\n- [ ] one\n  - [ ] part\n- [ ] two\n"
	const story = `{"project": "x", "userStories": [{"id": "S1", "title": "one", "passes": false}, {"id": "S2", "title": "two", "passes": false}]}`
	for name, c := range map[string]struct {
		file, base, person, made, want, left string
	}{
		"a tick, and another task reworded": {"p.md", base, "# Plan\n\n- [ ] one\n  - [ ] part\n- [ ] two, quickly\n", strings.Replace(base, "[ ] one", "[x] one", 1),
			"# Plan\n\n- [x] one\n  - [ ] part\n- [ ] two, quickly\n", ""},
		"a part, and a task above": {"p.md", base, "# Plan\n\n- [ ] zero\n- [ ] one\n  - [ ] part\n- [ ] two\n", strings.Replace(base, "[ ] part", "[x] part", 1),
			"# Plan\n\n- [ ] zero\n- [ ] one\n  - [x] part\n- [ ] two\n", ""},
		"notes, and no end of line": {"p.md", "- [ ] one", "- [ ] one\n- [ ] two\n", "- [x] one\n  - see work.txt", "- [x] one\n  - see work.txt\n- [ ] two\n", ""},
		"a new task":                {"p.md", base, strings.Replace(base, "two", "two, quickly", 1), base + "- [ ] three\n", strings.Replace(base, "two", "two, quickly", 1) + "- [ ] three\n", ""},
		"a new task with criteria":  {"p.md", base, strings.Replace(base, "two", "two, quickly", 1), base + "- [ ] three\n  - fast\n", strings.Replace(base, "two", "two, quickly", 1) + "- [ ] three\n", `all of the new task "three"`},
		"both the same task": {"p.md", base, strings.Replace(base, "[ ] part", "[x] part", 1), strings.Replace(base, "- [ ] one\n", "- [x] one\n  - done so\n", 1),
			"# Plan\n\n- [x] one\n  - [x] part\n- [ ] two\n", `what it says about "one"`},
		"both tick it":                 {"p.md", base, strings.Replace(base, "[ ] one", "[x] one", 1), strings.Replace(base, "[ ] one", "[X] one", 1), strings.Replace(base, "[ ] one", "[x] one", 1), ""},
		"the person has removed it":    {"p.md", base, "# Plan\n\n- [ ] two\n", strings.Replace(base, "[ ] one", "[x] one", 1), "# Plan\n\n- [ ] two\n", `what it says about "one"`},
		"what would swallow the rest":  {"p.md", "- [ ] one\n", "- [ ] one\n- [ ] two\n", "- [ ] one\n```\n", "- [ ] one\n- [ ] two\n", ""},
		"JSON":                         {"prd.json", story, strings.Replace(story, `"two"`, `"two, quickly"`, 1), strings.Replace(story, "false", "true", 1), strings.NewReplacer(`"two"`, `"two, quickly"`, `"one", "passes": false`, `"one", "passes": true`).Replace(story), ""},
		"nothing of its own":           {"p.md", base, strings.Replace(base, "two", "2", 1), base, strings.Replace(base, "two", "2", 1), ""},
		"its title, which is its name": {"p.md", base, strings.Replace(base, "two", "2", 1), strings.Replace(base, "one", "one, so", 1), strings.Replace(base, "two", "2", 1), `what it says about "one", all of the new task "one, so"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := store.File{Path: filepath.Join(t.TempDir(), c.file), Name: c.file}
			if err := os.WriteFile(f.Path, []byte(c.base), 0o600); err != nil {
				t.Fatal(err)
			}
			before := store.Read(f)
			p := Remember(true, Call{Plan: f, Task: before.List.Tasks[0]}, before)
			if err := os.WriteFile(f.Path, []byte(c.person), 0o600); err != nil {
				t.Fatal(err)
			}
			left := p.mergeCopy([]byte(c.made))
			got, _ := os.ReadFile(f.Path)
			if string(got) != c.want || strings.Join(left, ", ") != c.left {
				t.Errorf("left %q\ngot  %q\nwant %q", left, got, c.want)
			}
		})
	}
}

// What holds a plan: a file, the files of a folder, or a folder that a program keeps.
func TestPaths_ofPlans(t *testing.T) {
	for name, c := range map[string]struct {
		files          map[string]string
		paths, watched string
	}{
		"plan.md":      {map[string]string{"plan.md": "- [ ] one\n"}, "plan.md", "plan.md"},
		"gone.md":      {nil, "gone.md", ""},
		"docs/prd":     {map[string]string{"docs/prd/a.json": `{"items": [{"id": "a", "description": "x", "passes": false}]}`}, "docs/prd/a.json", "docs/prd/a.json docs/prd"},
		"docs/stories": {map[string]string{"docs/stories/1.1.a.md": "# Story 1.1: A\n\n## Status\n\nApproved\n", "docs/stories/1.2.b.md": "# Story 1.2: B\n\n## Status\n\nApproved\n"}, "docs/stories/1.1.a.md docs/stories/1.2.b.md", "docs/stories/1.1.a.md docs/stories/1.2.b.md docs/stories"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(dir, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			f := store.File{Path: filepath.Join(dir, name), Name: name}
			plan := store.Read(f)
			names := func(paths []string) string { return strings.ReplaceAll(strings.Join(paths, " "), dir+"/", "") }
			if got := names(Paths(f, plan)); got != c.paths {
				t.Errorf("paths %q; %+v", got, plan)
			}
			if got := names(Watched(f, plan)); got != c.watched {
				t.Errorf("watched %q", got)
			}
		})
	}
}
