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
		{"Backlog.md", "backlog/tasks/t.md", front, "t", "---\nid: t\ntitle: T\nstatus: Blocked\n---\n\n" + notes + "Blocked: waits for \"it\" <! -- x SIGNED\n<!-- SECTION:NOTES:END -->\n"},
		{"notes that are there", "backlog/tasks/t.md", front + notes + "old\n<!-- SECTION:NOTES:END -->\n", "t",
			"status: Blocked\n---\n" + notes + "old\n\nBlocked: waits for \"it\" <! -- x SIGNED\n<!-- SECTION:NOTES:END -->\n"},
		{"before what comes later", "backlog/tasks/t.md", front + "\n## Final Summary\n", "t",
			"status: Blocked\n---\n\n" + notes + "Blocked: waits for \"it\" <! -- x SIGNED\n<!-- SECTION:NOTES:END -->\n\n## Final Summary\n"},
		{"notes without marks", "backlog/tasks/t.md", front + "\n## Implementation Notes\n\nold\n\n## Final Summary\n", "t",
			"status: Blocked\n---\n\n## Implementation Notes\n\nold\n\nBlocked: waits for \"it\" <! -- x SIGNED\n\n## Final Summary\n"},
		{"a person's reason", "backlog/tasks/t.md", front + notes + "Blocked: by hand\n<!-- SECTION:NOTES:END -->\n", "t",
			notes + "Blocked: by hand\n\nBlocked: waits for \"it\" <! -- x SIGNED\n<!-- SECTION:NOTES:END -->\n"},
		{"no notes yet", "backlog/tasks/t.md", front + notes + "<!-- SECTION:NOTES:END -->\n", "t",
			notes + "\nBlocked: waits for \"it\" <! -- x SIGNED\n<!-- SECTION:NOTES:END -->\n"},
		{"no line end", "backlog/tasks/t.md", front + "Text", "t", "Text\n\n" + notes + "Blocked: waits for \"it\" <! -- x SIGNED\n<!-- SECTION:NOTES:END -->"},
		{"blank lines", "backlog/tasks/t.md", front + "Text\n\n\n", "t", "Text\n\n\n\n" + notes},
		{"an empty section", "_bmad-output/implementation-artifacts/s.md", spec + "\n## Auto Run Result\n\n## More\n", "s",
			"## Auto Run Result\n\n\nStatus: blocked\nBlocking condition: waits for \"it\" <! -- x SIGNED\n## More\n"},
		{"other line ends", "backlog/tasks/t.md", strings.ReplaceAll(front, "\n", "\r\n"), "t",
			"status: Blocked\r\n---\r\n\r\n" + strings.ReplaceAll(notes, "\n", "\r\n") + "Blocked: waits for \"it\" <! -- x SIGNED\r\n<!-- SECTION:NOTES:END -->\r\n"},
		{"BMAD 6.11", "_bmad-output/implementation-artifacts/s.md", spec, "s",
			"status: blocked\n---\n\n<intent-contract>\n\nIt works.\n\n</intent-contract>\n\n## Auto Run Result\n\nStatus: blocked\nBlocking condition: waits for \"it\" <! -- x SIGNED\n"},
		{"an earlier result", "_bmad-output/implementation-artifacts/s.md", spec + "\n## Auto Run Result\n\nStatus: done\n\n## More\n", "s",
			"</intent-contract>\n\n## Auto Run Result\n\nStatus: done\n\nStatus: blocked\nBlocking condition: waits for \"it\" <! -- x SIGNED\n\n## More\n"},
		{"Taskmaster", ".taskmaster/tasks/tasks.json", `{"tasks": [{"id": 1, "title": "a", "status": "pending", "details": "Do it."}]}`, "1",
			`"status": "blocked", "details": "Do it.\n\n<info added on TIME>\nBlocked: waits for \"it\" <!-- x SIGNED\n</info added on TIME>"}]}`},
		{"subtask", ".taskmaster/tasks/tasks.json", `{"tasks": [{"id": 1, "title": "a", "status": "pending", "details": "Do it.", "subtasks": [{"details": "", "id": 1, "title": "b", "status": "pending"}]}]}`, "1.1",
			`"details": "Do it.", "subtasks": [{"details": "<info added on TIME>\nBlocked: waits for \"it\" <!-- x SIGNED\n</info added on TIME>", "id": 1, "title": "b", "status": "blocked"`},
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
			if err := SetWithReason(File{Path: path}, was, task.Blocked, " waits\nfor \"it\"\x00 <!-- x"); err != nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`20\d\d-\d\d-\d\dT[\d:]+Z`).ReplaceAllString(content(t, file), "TIME")
			got = regexp.MustCompile(`<!-- ralph [0-9a-f]{8} -->`).ReplaceAllString(got, "SIGNED")
			if !strings.HasSuffix(got, c.want) && !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if now := find(t, path, c.id); now.State != task.Blocked || now.Wording() != was.Wording() {
				t.Errorf("%+v", now)
			}
			for range 2 { // again, with another reason
				if err := SetWithReason(File{Path: path}, find(t, path, c.id), task.Blocked, "waits longer"); err != nil {
					t.Fatal(err)
				}
			}
			if got := content(t, file); strings.Contains(got, "for") || strings.Count(got, "waits longer") > 1 {
				t.Errorf("the earlier reason is still there: %q", got)
			}
			if err := Restore(File{Path: path}, find(t, path, c.id), was); err != nil || content(t, file) != c.text {
				t.Errorf("%v: %q, want %q", err, content(t, file), c.text)
			}
		})
	}
}

func TestMark_takesAwayOnlyItsOwnReason(t *testing.T) {
	const front = "---\nid: t\ntitle: T\nstatus: To Do\n---\n"
	for _, to := range []task.State{task.Open, task.Active, task.Done} {
		for _, edited := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "backlog")
			file := filepath.Join(path, "tasks/t.md")
			write(t, file, front)
			write(t, filepath.Join(path, "config.yml"), "statuses: [To Do, In Progress, Blocked, Done]\n")
			if _, err := Mark(File{Path: path}, "t", task.Blocked, "no key"); err != nil {
				t.Fatal(err)
			}
			text := content(t, file)
			if edited {
				text = strings.Replace(text, "no key", "no key, Ann has it", 1)
			}
			word := map[task.State]string{task.Open: "To Do", task.Active: "In Progress", task.Done: "Done"}[to]
			text = strings.Replace(text, "status: Blocked", "status: "+word, 1) // by a person, or the agent
			write(t, file, text)
			changed, err := Mark(File{Path: path}, "t", to, "")
			if err != nil || changed == edited || strings.Contains(content(t, file), "no key") != edited {
				t.Errorf("%s, edited %v: %v %v %q", to, edited, changed, err, content(t, file))
			}
		}
	}
}
