package monitor

import (
	"testing"

	"ralph/internal/sample"
)

const onePatch = "diff --git a/a.go b/a.go\nindex 1111111..2222222 100644\n--- a/a.go\n+++ b/a.go\n" +
	"@@ -1,1 +1,1 @@ func a()\n-\told\n+\tnew\n"

func TestChanges_ofAnIterationAndATask_areShownAndUndone(t *testing.T) {
	_, tasks := withTasks(t)
	s, events := sample.Run(sample.Noon)
	s.Alive = false
	pr := sample.New(t, s, events)
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		p := openPane(t, pr.Dir, size, tasks, "MONITOR_TEST_PATCH="+onePatch)
		p.shows("q quit")
		p.keys("Left", "d")
		p.shows("d Changes of iteration 6", "a.go", "@@ -1,1 +1,1 @@ func a()", "-    old", "+    new", "1 file +1 -1")
		p.keys("u")
		p.shows("undo iteration 6: take 1 file back, as a new commit (y/n)")
		p.keys("n")
		p.hides("(y/n)")
		p.keys("d")
		p.hides("Changes of")
		p.keys("t")
		p.shows("› tasks", "T2  Log in")
		p.keys("j", "d")
		p.shows("d Changes of task T", "+    new")
		p.keys("u", "y")
		p.shows("undo will act soon")
		p.keys("Escape")
		p.shows("t Tasks")
		if got, want := p.called(), "undo --yes --run="+s.Status.RunID+" -- T2"; got != want && got != "undo --yes --run="+s.Status.RunID+" -- T3" {
			t.Errorf("the verbs were %q, want %q", got, want)
		}
	}
}

// An iteration without an end has no changes to show, and a living run none to undo.
func TestChanges_whileTheRunWorks_sayWhyNot(t *testing.T) {
	s, events := sample.Run(sample.Noon)
	u := still(t, s, events)
	u.o.Ralph = []string{"false"}
	u.types(t, "d")
	if u.front().page != u.run || u.message == "" {
		t.Errorf("%T, message %q", u.front().page, u.message)
	}
}
