package store

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whatever is refused, the message has the line.
func TestProblems_everyFormat_nameTheLine(t *testing.T) {
	const front = "---\nid: task-1\n"
	for _, c := range []struct{ plan, file, text, want string }{
		{"prd.json", "prd.json", "{\"userStories\": [\n {\"id\": \"A\", \"passes\": false},\n {\"id\": \"B\", \"passes\": false, \"dependsOn\": [\"Z\"]}]}", "(line 3)"},
		{"tasks.json", ".ralph/tasks.json", "{\"tasks\": [\n {\"id\": \"A\", \"name\": \"a\",\n \"status\": \"pending\", \"dependencies\": [\"Z\"]}]}", "(line 2)"},
		{"tm", ".taskmaster/tasks/tasks.json", "{\"tasks\": [\n {\"id\": 1, \"title\": \"a\", \"status\": \"pending\", \"subtasks\": [\n {\"id\": 1, \"title\": \"b\", \"status\": \"pending\", \"dependencies\": [9]}]}]}", "(line 3)"},
		{"backlog", "backlog/tasks/a.md", front + "title: [a\nstatus: To Do\n---\n", "line 4, column 1"},
		{"no status", "backlog/tasks/a.md", front + "---\n", "a.md line 1: front matter: \"status\" is missing"},
		{"no id", "backlog/tasks/a.md", "---\nstatus: To Do\n---\n", "a.md line 1: front matter: \"id\" is missing"},
		{"twice", "backlog/tasks/a.md", "---\nid: task-1\nid: task-2\nstatus: To Do\n---\n", "line 3, column 1"},
		{"kiro", ".kiro/specs/a/tasks.md", "- [ ] 1. a\n- [?] 2. b\n", "line 2: unknown mark \"[?]\", so nobody works on it; known: [ ]"},
		{"list", "fix_plan.md", "- [ ] a\n- [?] b\n", "line 2: unknown mark \"[?]\", so nobody works on it; known: [ ], [x]"},
		{"begun in a list", "fix_plan.md", "- [ ] a\n1. [~] b\n", "line 2: unknown mark \"[~]\", so nobody works on it; known: [ ], [x]"},
		{"spec kit", "specs/a/tasks.md", "- [ ] T001 a\n* [-] T002 b\n", "line 2: unknown mark \"[-]\", so nobody works on it; known: [ ], [x]"},
		{"same id", "backlog/tasks/b.md", front + "title: b\nstatus: To Do\n---\n", "b.md line 2: \"task-1\" is also the id of tasks/a.md"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, c.file), c.text)
		if c.plan == "spec kit" {
			write(t, filepath.Join(dir, ".specify/x"), "")
		}
		if c.plan == "same id" {
			write(t, filepath.Join(dir, "backlog/tasks/a.md"), front+"title: a\nstatus: To Do\n---\n")
		}
		list, err := Load(File{Path: All(dir, nil)[0].Path})
		said := strings.Join(append(list.Problems(), list.Warnings...), "; ")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: %q, want %q", c.plan, said, c.want)
		}
	}
}

// What looks like a mark but stands on no task keeps nobody from working.
func TestProblems_bracketsThatMarkNoTask_areNone(t *testing.T) {
	text := "- [ ] a\n- [?]\n- [-]: x\n- [~](url) b\n- [-]\n- [2026-01-29] date\n```\n- [?] in code\n```\n<!-- - [?] hidden -->\ntext - [?] within\n- [] empty\n- [ x] blank\n"
	list, err := Parse("fix_plan.md", []byte(text), nil)
	if err != nil || len(list.Problems()) > 0 {
		t.Errorf("%q, %v", list.Problems(), err)
	}
}
