package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ralph/runner/task"
)

func backlogTask(id int, status string) string {
	return fmt.Sprintf("---\nid: TASK-%d\ntitle: Build part %[1]d\nstatus: %s\ndependencies: []\n---\n\nText.\n", id, status)
}

// backlog returns a folder of Backlog.md with n tasks.
func backlog(t *testing.T, n int) (File, func(id int) string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "backlog")
	at := func(id int) string { return filepath.Join(dir, fmt.Sprintf("tasks/task-%d - Build.md", id)) }
	write(t, filepath.Join(dir, "config.yml"), "statuses: [To Do, In Progress, Done]\n")
	for id := range n {
		write(t, at(id+1), backlogTask(id+1, "To Do"))
	}
	return File{Path: dir, Name: "backlog"}, at
}

func TestSet_folderThatWasRead_changesOneFile(t *testing.T) {
	f, at := backlog(t, 100)
	list := Read(f).List
	for _, i := range []int{0, 50, 99} {
		if err := Set(f, list.Tasks[i], task.Done); err != nil {
			t.Fatal(err)
		}
	}
	if p := Read(f); p.Done != 3 {
		t.Errorf("%d are done", p.Done)
	}
	for id, want := range map[int]string{1: "Done", 2: "To Do", 51: "Done", 100: "Done"} {
		if data, err := os.ReadFile(at(id)); err != nil || string(data) != backlogTask(id, want) {
			t.Errorf("%d: %q, %v", id, data, err)
		}
	}
}
