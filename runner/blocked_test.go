package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/state"
)

// What a person has blocked waits for that person: nothing is wrong with the plan.
func TestRun_onlyBlockedTasksAreLeft_needsAPerson(t *testing.T) {
	b := newBench(t, "task-claimer")
	b.planOf(".taskmaster/tasks/tasks.json", `{"tasks": [
  {"id": "a", "title": "Log answers", "description": "x", "status": "blocked"},
  {"id": "b", "title": "Rotate", "description": "x", "status": "pending", "dependencies": ["a"]}]}`)
	b.d.PlanEdits = filepath.Join(t.TempDir(), "p.edits.jsonl")
	b.inGit()
	blocked := task.Task{ID: "a", Title: "Log answers", State: task.Blocked}
	if err := store.RecordEdit(b.d.PlanEdits, store.JournalEdit{After: &blocked, Why: "waits for the design"}); err != nil {
		t.Fatal(err)
	}
	r := b.run(t.Context())
	wantEnd(t, r, "blocked", state.ExitReview)
	if d := r.Decision; !strings.Contains(d.Reason, `a "Log answers": waits for the design`) || strings.Contains(d.Reason, "Rotate") ||
		!strings.Contains(d.Next, "ralph task reopen a;") || b.calls() != 0 {
		t.Errorf("%q, %q, %d calls", d.Reason, d.Next, b.calls())
	}
}
