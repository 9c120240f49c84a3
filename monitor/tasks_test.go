package monitor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/state"
)

// withTasks is the setting of a ralph that lists tasks.
func withTasks(t *testing.T) (path, setting string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tasks.json")
	writeTasks(t, path, `[{"id":"T1","title":"Set up","state":"done"},{"id":"T2","title":"Log in","state":"active","criteria":["it works"]},{"id":"T3","title":"Log out","state":"open"}]`)
	return path, "MONITOR_TEST_TASKS=" + path
}

func writeTasks(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestTasks_keysRunVerbsAndActOnlyThere(t *testing.T) {
	if testing.Short() {
		t.Skip("long: many screens")
	}
	path, setting := withTasks(t)
	p := openPane(t, living(t).Dir, [2]int{80, 24}, setting)
	p.shows("RUNNING", "line number 199")
	p.keys("t")
	p.shows("t Tasks", "1/3 done", "✓ T1  Set up", "▸ T2  Log in", "enter details", "esc back")
	p.keys("a", "s", "a", "p", "Enter") // abort, skip and pause outside
	p.shows("task will act soon")
	p.keys("x", "y")
	p.shows("task will act soon")
	p.keys("s", "p", "l", "y") // they mean nothing here
	p.keys("?")
	p.shows("? Keys", "mark the task as done")
	p.keys("?")
	p.hides("? Keys")
	p.keys("Enter")
	p.shows("enter Task ", "it works", "2 of 3")
	p.keys("Escape")
	p.shows("1/3 done")
	writeTasks(t, path, `[{"id":"T9","title":"by an editor","state":"open"}]`)
	p.shows("by an editor")
	p.keys("t")
	p.shows("l Live log", "p pause", "a abort")
	p.keys("a")
	p.shows("end the run now")
	p.keys("n")
	if got, want := p.called(), "task add -- sap task done -- T2"; got != want {
		t.Errorf("the verbs were %q, want %q", got, want)
	}
}

func TestTasks_verbThatFails_isShownInRedUntilItIsRead(t *testing.T) {
	_, setting := withTasks(t)
	p := openPane(t, living(t).Dir, [2]int{80, 24}, setting, "MONITOR_TEST_FAIL=1")
	p.shows("RUNNING")
	p.keys("t")
	p.shows("Log out")
	p.keys("x", "y")
	p.shows("task done failed: no disk space")
	p.keys("j", "k")
	p.shows("task done failed")
	p.keys("Escape")
	p.hides("task done failed")
	p.shows("t Tasks")
}

func TestTasks_withoutAPlan_saysSo(t *testing.T) {
	p := openPane(t, living(t).Dir, [2]int{80, 24}, "MONITOR_TEST_TASKS=/nowhere")
	p.shows("RUNNING")
	p.keys("t")
	p.shows("t Tasks", "there is no plan")
	p.keys("Escape")
	p.shows("l Live log")
}

func TestTasks_edit_opensTheEditorInTheTerminal(t *testing.T) {
	_, setting := withTasks(t)
	p := openPane(t, living(t).Dir, [2]int{80, 24}, setting)
	p.shows("RUNNING")
	p.keys("t")
	p.shows("Log out")
	p.keys("G", "e")
	p.wait("the verb", func(string) bool { return p.called() == "task edit -- T3" })
	p.shows("t Tasks", "Log out")
}

func TestPanel_onAWideScreen_listsTheTasks(t *testing.T) {
	path, setting := withTasks(t)
	pr := living(t)
	p := openPane(t, pr.Dir, [2]int{200, 50}, setting)
	p.shows(" plan ", "▸ T2  Log in", "○ T3  Log out")
	writeTasks(t, path, `[{"id":"T9","title":"by the run","state":"open"}]`)
	pr.Add(state.NewEvent(state.Origin{Run: "20261120-131810", Iteration: 7}, time.Now(), state.TaskChange{ID: "T9", State: "new"}))
	p.shows("○ T9  by the run")
	p.hides("T3  Log out")
}
