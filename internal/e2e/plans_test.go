//go:build e2e && linux

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// planProject is a project that keeps its plan in some format.
type planProject struct {
	name  string
	files map[string]string
	ids   []string          // in the order in which they come
	mark  string            // the shell command by which the agent marks the first task; the others it claims
	after map[string]string // what the files are at the end
}

func planProjects() []planProject {
	const sprint = "_bmad-output/implementation-artifacts/"
	story := func(status string) string {
		return "# Story 1.2: Login\n\n## Status\n\n" + status + "\n\n## Story\n\nAs a user.\n"
	}
	backlog := func(id, status string) string {
		return "---\nid: " + id + "\ntitle: Do " + id + "\nstatus: " + status + "\nlabels: []\ndependencies: []\n---\n\n## Description\n\nText.\n"
	}
	return []planProject{
		{"spec kit", map[string]string{".specify/feature.json": `{"feature_directory": "specs/001-a"}`, "specs/001-a/tasks.md": "## Phase 1: Setup\n\n- [ ] T001 Init\n\n## Phase 2: Core\n\n- [ ] T002 [P] Model\n"},
			[]string{"T001", "T002"}, "sed -i 's/\\[ \\] T001/[X] T001/' specs/001-a/tasks.md",
			map[string]string{"specs/001-a/tasks.md": "## Phase 1: Setup\n\n- [X] T001 Init\n\n## Phase 2: Core\n\n- [x] T002 [P] Model\n"}},
		{"openspec", map[string]string{"openspec/changes/add-x/tasks.md": "## 1. A\n- [x] 1.1 done\n- [ ] 1.2 open\n"}, []string{"1.2"}, "",
			map[string]string{"openspec/changes/add-x/tasks.md": "## 1. A\n- [x] 1.1 done\n- [x] 1.2 open\n"}},
		{"kiro", map[string]string{".kiro/specs/a/tasks.md": "# Plan\r\n\r\n- [ ] 1. Parent\r\n  - [~] 1.1 child\r\n    - _Requirements: 1.1_\r\n  - [ ]* 1.2 tests\r\n"},
			[]string{"1.1", "1"}, "",
			map[string]string{".kiro/specs/a/tasks.md": "# Plan\r\n\r\n- [x] 1. Parent\r\n  - [x] 1.1 child\r\n    - _Requirements: 1.1_\r\n  - [ ]* 1.2 tests\r\n"}},
		{"prd folder", map[string]string{"docs/prd/api.json": `{"items": [{"id": "A-1", "description": "x", "status": "pending"}]}`, "docs/prd/ui.json": "[\n  {\"id\": \"U-1\", \"description\": \"y\", \"passes\": false}\n]\n"},
			[]string{"A-1", "U-1"}, "sed -i 's/in_progress/completed/' docs/prd/api.json",
			map[string]string{"docs/prd/api.json": `{"items": [{"id": "A-1", "description": "x", "status": "completed"}]}`, "docs/prd/ui.json": "[\n  {\"id\": \"U-1\", \"description\": \"y\", \"passes\": true}\n]\n"}},
		{"taskmaster", map[string]string{".taskmaster/tasks/tasks.json": `{"master": {"tasks": [{"id": 1, "title": "a", "status": "pending", "dependencies": [2]}, {"id": 2, "title": "b", "status": "pending"}, {"id": 3, "title": "c", "status": "deferred"}]}}`},
			[]string{"2", "1"}, "",
			map[string]string{".taskmaster/tasks/tasks.json": `{"master": {"tasks": [{"id": 1, "title": "a", "status": "done", "dependencies": [2]}, {"id": 2, "title": "b", "status": "done"}, {"id": 3, "title": "c", "status": "deferred"}]}}`}},
		{"prd.json", map[string]string{"prd.json": `{"userStories": [{"id": "US-2", "title": "b", "priority": 2, "passes": false}, {"id": "US-1", "title": "a", "priority": 1, "passes": false}]}`},
			[]string{"US-1", "US-2"}, "",
			map[string]string{"prd.json": `{"userStories": [{"id": "US-2", "title": "b", "priority": 2, "passes": true}, {"id": "US-1", "title": "a", "priority": 1, "passes": true}]}`}},
		{"tasks.json", map[string]string{".ralph/tasks.json": `{"tasks": [{"id": "t2", "name": "b", "status": "pending", "order": 2}, {"id": "t1", "name": "a", "status": "pending", "order": 1}]}`},
			[]string{"t1", "t2"}, "",
			map[string]string{".ralph/tasks.json": `{"tasks": [{"id": "t2", "name": "b", "status": "completed", "order": 2}, {"id": "t1", "name": "a", "status": "completed", "order": 1}]}`}},
		{"backlog.md", map[string]string{"backlog/config.yml": "statuses: [To Do, In Progress, Done]\n", "backlog/tasks/task-1 - a.md": backlog("task-1", "To Do"), "backlog/tasks/task-2 - b.md": backlog("task-2", "Done")},
			[]string{"task-1"}, "sed -i 's/In Progress/Done/' 'backlog/tasks/task-1 - a.md'",
			map[string]string{"backlog/tasks/task-1 - a.md": backlog("task-1", "Done"), "backlog/tasks/task-2 - b.md": backlog("task-2", "Done")}},
		{"aios", map[string]string{".aios-core/x": "", "docs/stories/1.2.story.md": story("Ready")}, []string{"1.2"}, "",
			map[string]string{"docs/stories/1.2.story.md": story("Done")}},
		{"bmad 4", map[string]string{".bmad-core/x": "", "docs/stories/1.2.login.md": story("Approved")}, []string{"1.2"}, "",
			map[string]string{"docs/stories/1.2.login.md": story("Done")}},
		{"bmad 6", map[string]string{sprint + "sprint-status.yaml": "development_status:\n  epic-1: backlog # comment\n  1-2-login: ready-for-dev\n  epic-1-retrospective: optional\n", sprint + "1-2-login.md": "# Story 1.2: Login\n\nStatus: ready-for-dev\n"},
			[]string{"1-2-login"}, "sed -i 's/: in-progress$/: review/' " + sprint + "*",
			map[string]string{sprint + "sprint-status.yaml": "development_status:\n  epic-1: in-progress # comment\n  1-2-login: done\n  epic-1-retrospective: optional\n", sprint + "1-2-login.md": "# Story 1.2: Login\n\nStatus: done\n"}},
		{"bmad 6.11", map[string]string{sprint + "spec-a.md": "---\ntitle: 'A'\nstatus: 'ready-for-dev'\n---\n\n<intent-contract>\n\nIt works.\n\n</intent-contract>\n"}, []string{"spec-a"}, "",
			map[string]string{sprint + "spec-a.md": "---\ntitle: 'A'\nstatus: 'done'\n---\n\n<intent-contract>\n\nIt works.\n\n</intent-contract>\n"}},
	}
}

// script is what the agent does: it works, and marks or claims its task.
func (p planProject) script() mockllm.Scenario {
	var sc mockllm.Scenario
	for i, id := range p.ids {
		file := fmt.Sprintf("work%d.txt", i+1)
		steps := []mockllm.Step{{Text: "I write " + file + ".", Tools: []mockllm.Tool{{Name: "write", Path: file, Content: id + "\n"}}}}
		block := mockllm.StatusBlock(i+1 == len(p.ids))
		if i == 0 && p.mark != "" {
			steps = append(steps, mockllm.Step{Tools: []mockllm.Tool{{Name: "bash", Command: p.mark}}})
		} else {
			block = strings.Replace(block, "RECOMMENDATION", "TASK: "+id+"\nRECOMMENDATION", 1)
		}
		sc.Runs = append(sc.Runs, append(steps, mockllm.Step{Text: "Done." + block}))
	}
	return sc
}

// The real CLI works through a plan of every format, and the files differ only in the states.
func TestRalph_planOfEveryFormat_isWorkedOff(t *testing.T) {
	for _, p := range planProjects() {
		t.Run(p.name, func(t *testing.T) {
			w := newProject(t, claude(), 1, p.script())
			w.Set("AIOS_QA_ENABLED", "false") // reviews have tests of their own
			w.Git("rm", "-q", ".ralph/fix_plan.md")
			for name, text := range p.files {
				w.Write(name, text)
			}
			w.Commit("plan")
			exit := w.ralph("run").Wait(2 * time.Minute)
			s := w.status()
			if exit != 0 || s.ExitReason != "plan_complete" || s.LoopCount != len(p.ids) {
				t.Errorf("exit %d, status %+v", exit, s)
			}
			for name, want := range p.after {
				if got := w.Read(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			for i, prompt := range w.mock.Prompts(scenario) {
				if i < len(p.ids) && !strings.Contains(prompt, p.ids[i]) {
					t.Errorf("prompt %d does not name %s", i+1, p.ids[i])
				}
			}
		})
	}
}
