package store

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ralph/runner/task"
)

func TestSetBecause_reasonStandsWhereTheToolShowsIt(t *testing.T) {
	const (
		front  = "---\nid: t\ntitle: T\nstatus: To Do\n---\n"
		config = "statuses: [To Do, Blocked, Done]\n"
		notes  = "## Implementation Notes\n\n<!-- SECTION:NOTES:BEGIN -->\n"
		spec   = "---\nstatus: ready-for-dev\n---\n\n<intent-contract>\n\nIt works.\n\n</intent-contract>\n"
	)
	for _, c := range []struct {
		name, file, text, id, want string // want: with TIME; of a file that is to stay as it is but for the state: none
	}{
		{"Backlog.md", "backlog/tasks/t.md", front, "t", "---\nid: t\ntitle: T\nstatus: Blocked\n---\n\n" + notes + "Blocked: waits for \"it\" <! -- x\n<!-- SECTION:NOTES:END -->\n"},
		{"notes that are there", "backlog/tasks/t.md", front + notes + "old\n<!-- SECTION:NOTES:END -->\n", "t",
			"status: Blocked\n---\n" + notes + "old\n\nBlocked: waits for \"it\" <! -- x\n<!-- SECTION:NOTES:END -->\n"},
		{"before what comes later", "backlog/tasks/t.md", front + "\n## Final Summary\n", "t",
			"status: Blocked\n---\n\n" + notes + "Blocked: waits for \"it\" <! -- x\n<!-- SECTION:NOTES:END -->\n\n## Final Summary\n"},
		{"other line ends", "backlog/tasks/t.md", strings.ReplaceAll(front, "\n", "\r\n"), "t",
			"status: Blocked\r\n---\r\n\r\n" + strings.ReplaceAll(notes, "\n", "\r\n") + "Blocked: waits for \"it\" <! -- x\r\n<!-- SECTION:NOTES:END -->\r\n"},
		{"BMAD 6.11", "_bmad-output/implementation-artifacts/s.md", spec, "s",
			"status: blocked\n---\n\n<intent-contract>\n\nIt works.\n\n</intent-contract>\n\n## Auto Run Result\n\nStatus: blocked\nBlocking condition: waits for \"it\" <! -- x\n"},
		{"an earlier result", "_bmad-output/implementation-artifacts/s.md", spec + "\n## Auto Run Result\n\nStatus: done\n\n## More\n", "s",
			"</intent-contract>\n\n## Auto Run Result\n\nStatus: done\n\nStatus: blocked\nBlocking condition: waits for \"it\" <! -- x\n\n## More\n"},
		{"Taskmaster", ".taskmaster/tasks/tasks.json", `{"tasks": [{"id": 1, "title": "a", "status": "pending", "details": "Do it."}]}`, "1",
			`"status": "blocked", "details": "Do it.\n\n<info added on TIME>\nBlocked: waits for \"it\" <!-- x\n</info added on TIME>"}]}`},
		{"subtask", ".taskmaster/tasks/tasks.json", `{"tasks": [{"id": 1, "title": "a", "status": "pending", "details": "Do it.", "subtasks": [{"details": "", "id": 1, "title": "b", "status": "pending"}]}]}`, "1.1",
			`"details": "Do it.", "subtasks": [{"details": "<info added on TIME>\nBlocked: waits for \"it\" <!-- x\n</info added on TIME>", "id": 1, "title": "b", "status": "blocked"`},
		{"no details", ".taskmaster/tasks/tasks.json", `{"tasks": [{"id": 1, "title": "a", "status": "pending"}]}`, "1",
			`{"tasks": [{"id": 1, "title": "a", "status": "blocked"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, c.file)
			write(t, file, c.text)
			path := file
			if strings.HasPrefix(c.file, "backlog") {
				path = filepath.Join(root, "backlog")
				write(t, filepath.Join(path, "config.yml"), config)
			}
			was := find(t, path, c.id)
			if err := SetBecause(path, was, task.Blocked, " waits\nfor \"it\"\x00 <!-- x"); err != nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`20\d\d-\d\d-\d\dT[\d:]+Z`).ReplaceAllString(content(t, file), "TIME")
			if !strings.HasSuffix(got, c.want) && !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if now := find(t, path, c.id); now.State != task.Blocked || now.Wording() != was.Wording() {
				t.Errorf("%+v", now)
			}
			if err := SetBecause(path, find(t, path, c.id), task.Open, "over"); err != nil || strings.Contains(content(t, file), "over") {
				t.Errorf("%v: %q", err, content(t, file))
			}
		})
	}
}
