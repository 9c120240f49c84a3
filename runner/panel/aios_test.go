package panel

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/runner/roles/aios"
	"ralph/runner/task"
	"ralph/runner/task/rewrite"
	"ralph/state"
)

// Another writer of the plan holds its lock: a report waits, and takes nothing of what was written away.
func TestTake_planIsLocked_theReportWaitsAndKeepsWhatOthersWrote(t *testing.T) {
	project, copied := t.TempDir(), t.TempDir()
	const story = "docs/stories/1.2.login.story.md"
	put := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "docs/stories"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, story), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(project, "# S\n\n## Status\n\nReady for Review\n")
	put(copied, "# S\n\n## Status\n\nReady for Review\n\n## QA Results\n\nfine\n")
	plan := filepath.Join(project, "docs/stories")
	p := &Panel{Dir: project, AIOS: aios.Options{Enabled: "true"}.At(project), Log: hclog.NewNullLogger()}
	r := &room{dir: copied, project: project, sitting: Sitting{Plan: plan, Story: story,
		Task: task.Task{ID: "1.2", File: "1.2.login.story.md"}}}

	unlock, err := rewrite.Lock(plan)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan []string, 1)
	go func() { taken <- p.take(r, []string{story}, &state.Verdict{}) }()
	select {
	case <-taken:
		t.Error("it wrote the plan while somebody else had its lock")
	case <-time.After(200 * time.Millisecond):
	}
	put(project, "# S, renamed by a person\n\n## Status\n\nReady for Review\n")
	unlock()
	if undone := <-taken; len(undone) != 1 { // the reviewer's version has the old title
		t.Errorf("undone %v", undone)
	}
	want := "# S, renamed by a person\n\n## Status\n\nReady for Review\n\n## QA Results\n\nfine\n"
	if got, _ := os.ReadFile(filepath.Join(project, story)); string(got) != want {
		t.Errorf("%q", got)
	}
}
