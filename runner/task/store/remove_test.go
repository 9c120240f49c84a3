package store

import (
	"path/filepath"
	"testing"

	"ralph/runner/task"
)

func TestRemove_finishedTask_goesAloneAndIsKeptFirst(t *testing.T) {
	const a, b = `{"id": "a", "passes": true}`, `{"id": "b", "passes": false}`
	for name, c := range map[string]struct{ file, text, id, want, kept string }{
		"box":          {"fix_plan.md", "# x\n- [x] T1 a\n  - note\n- [ ] T2 b\n", "T1 a", "# x\n- [ ] T2 b\n", "- [x] T1 a\n  - note\n"},
		"first record": {"prd.json", "{\"userStories\": [\n  " + a + ",\n  " + b + "\n]}", "a", "{\"userStories\": [\n  " + b + "\n]}", a},
		"last record":  {"prd.json", "{\"userStories\": [\n  " + b + ",\n  " + a + "\n]}", "a", "{\"userStories\": [\n  " + b + "\n]}", a},
		"only record":  {"prd.json", "{\"userStories\": [" + a + "]}", "a", "{\"userStories\": []}", a},
		"open one":     {"fix_plan.md", "- [ ] T1 a\n", "T1 a", "- [ ] T1 a\n", ""},
		"open below":   {"fix_plan.md", "- [x] T1 a\n  - [ ] T2 b\n", "T1 a", "- [x] T1 a\n  - [ ] T2 b\n", ""},
		"done below":   {"fix_plan.md", "- [x] T1 a\n  - [x] T2 b\n- [ ] c\n", "T1 a", "- [ ] c\n", "- [x] T1 a\n  - [x] T2 b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			write(t, path, c.text)
			kept := ""
			err := Remove(File{Path: path}, find(t, path, c.id), func(text string, _ []task.Task) error {
				kept = text
				if got := content(t, path); got != c.text {
					t.Errorf("written before it was kept: %q", got)
				}
				return nil
			})
			if got := content(t, path); got != c.want || kept != c.kept || (err != nil) != (c.kept == "") {
				t.Errorf("%q kept %q: %v", got, kept, err)
			}
		})
	}
}
