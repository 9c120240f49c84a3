package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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

func TestCache_folder_everyChangeIsSeen(t *testing.T) {
	f, at := backlog(t, 100)
	kept := f
	kept.Cache = new(Cache)
	Read(kept)
	time.Sleep(settled + 100*time.Millisecond) // sleep: the files settle, as they have in a run
	Read(kept)
	for name, change := range map[string]func(){
		"nothing":              func() {},
		"a state":              func() { write(t, at(7), backlogTask(7, "Done")) },
		"a new file":           func() { write(t, at(101), backlogTask(101, "Done")) },
		"one before all":       func() { write(t, filepath.Join(f.Path, "tasks/task-0 - Build.md"), backlogTask(200, "To Do")) },
		"a file is gone":       func() { _ = os.Remove(at(50)) },
		"a file is renamed":    func() { _ = os.Rename(at(51), at(51)+"x.md") },
		"another file instead": func() { write(t, at(52)+"~", backlogTask(300, "Done")); _ = os.Rename(at(52)+"~", at(52)) },
		"an old time": func() {
			write(t, at(8), backlogTask(8, "Done"))
			_ = os.Chtimes(at(8), time.Now().Add(-time.Hour), time.Now().Add(-time.Hour))
		},
		"other words": func() {
			write(t, filepath.Join(f.Path, "config.yml"), "statuses: [Done, In Progress, To Do]\n")
		},
	} {
		change()
		for range 2 { // the second time, it may come from memory
			got, want := Read(kept), Read(f)
			if described(got.List) != described(want.List) || got.Error != want.Error || got.Done != want.Done {
				t.Errorf("%s: %d tasks, %d done, %q, want %d, %d, %q", name, len(got.List.Tasks), got.Done, got.Error, len(want.List.Tasks), want.Done, want.Error)
			}
		}
	}
}

func TestCache_brokenFileInAFolder_isReadAgainWhenItIsMended(t *testing.T) {
	f, at := backlog(t, 3)
	f.Cache = new(Cache)
	write(t, at(2), "no front matter\n")
	for range 2 {
		if p := Read(f); p.Usable() {
			t.Fatalf("%+v", p)
		}
	}
	write(t, at(2), backlogTask(2, "Done"))
	if p := Read(f); !p.Usable() || p.Done != 1 || p.Total != 3 {
		t.Errorf("%+v", p)
	}
}

func TestSet_folderThatWasRead_changesOneFile(t *testing.T) {
	f, at := backlog(t, 100)
	f.Cache = new(Cache)
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
