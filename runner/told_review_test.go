package runner

import (
	"strings"
	"testing"

	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Reviewers speak to the developer of a task. When another task comes between, its prompt has none of it.
func TestPromptInput_refusal_isToldToNoOtherTask(t *testing.T) {
	b := newBench(t, "strict", "[ ] one", "[ ] two")
	r := New(b.o, b.d)
	one, two := task.Task{ID: "1", Title: "one"}, task.Task{ID: "2", Title: "two"}
	r.notes.NextPrompt = state.NextPrompt{Task: one.ID, Review: []string{"an open door"}}
	r.tasks.Remember(one.ID, r.notes.Review)
	told := func(of task.Task) string {
		return strings.Join(r.promptInput("", turn.Plan{}, of).Feedback, "\n")
	}
	if got := told(two); got != "" {
		t.Errorf("told another task: %s", got)
	}
	if got := told(one); strings.Count(got, "an open door") != 1 {
		t.Errorf("told the refused task: %s", got)
	}
	r.notes.Begin(turn.Result{Task: two}) // another task came between
	if got := told(one); strings.Count(got, "an open door") != 1 {
		t.Errorf("told the refused task later: %s", got)
	}
}
