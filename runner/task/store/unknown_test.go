package store

import (
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/task"
)

// One word that only a newer tool knows must not keep ralph from the rest of the plan.
func TestLoad_wordThatTheFormatDoesNotHave_setsThatTaskAside(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"sprint":     {"sprint-status.yaml": "development_status:\n  epic-1: in-progress\n  1-1-a: awaiting-operator\n  1-2-b: ready-for-dev\n"},
		"bmad 4":     {".bmad-core/x": "", "docs/stories/1.1.a.md": "# Story 1.1: a\n\n## Status\n\nAwaiting Operator\n", "docs/stories/1.2.b.md": "# Story 1.2: b\n\n## Status\n\nApproved\n"},
		"aios":       {".aios-core/x": "", "docs/stories/1.1.story.md": "# a\n\n## Status\n\nParked\n", "docs/stories/1.2.story.md": "# b\n\n**Status:** Ready\n"},
		"tasks.json": {".ralph/tasks.json": `{"tasks": [{"id": "1", "name": "a", "status": "waiting"}, {"id": "2", "name": "b", "status": "pending"}]}`},
		"folder":     {"docs/prd/a.json": `[{"id": "1", "name": "a", "status": "waiting"}, {"id": "2", "name": "b", "status": "pending"}]`},
		"taskmaster": {".taskmaster/tasks/tasks.json": `{"tasks": [{"id": 1, "title": "a", "status": "waiting"}, {"id": 2, "title": "b", "status": "pending"}]}`},
		"kiro":       {".kiro/specs/x/tasks.md": "- [?] 1. a\n- [ ] 2. b\n"},
		"list":       {"fix_plan.md": "- [?] a\n- [ ] b\n"},
		"spec kit":   {".specify/x": "", "specs/a/tasks.md": "- [?] T001 a\n- [ ] T002 b\n"},
	} {
		dir := t.TempDir()
		for file, text := range files {
			write(t, filepath.Join(dir, file), text)
		}
		list, err := Load(File{Path: All(dir, nil)[0].Path})
		if err != nil || len(list.Tasks) != 2 || list.Tasks[0].State != task.Blocked || list.Tasks[0].Word == "" || len(list.Problems()) > 0 {
			t.Errorf("%s: %+v, %q, %v", name, list.Tasks, list.Problems(), err)
			continue
		}
		if next, ok := list.Next(); !ok || next.ID != list.Tasks[1].ID || len(list.Blocked()) != 1 {
			t.Errorf("%s: next is %+v, blocked %+v", name, next, list.Blocked())
		}
		if said := strings.Join(list.Warnings, "; "); !strings.Contains(said, "so nobody works on it; known: ") {
			t.Errorf("%s: %q", name, said)
		}
	}
}
