package protect

import (
	"fmt"
	"strings"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

// Mark is a task that an agent marked so that nobody would work on it, and why the mark does not count.
type Mark struct{ Task, Why string }

// Held returns the tasks that the agent marked so that nobody would work on them. own is true if it marked its own task
// as blocked, which it may do.
func (o Outcome) Held(before, left store.Plan, id string) (marks []Mark, own bool) {
	was := task.Index(before.List.Tasks)
	for _, t := range o.Made(left).List.Tasks {
		i, known := was[t.ID]
		if t.State != task.Blocked || !known || before.List.Tasks[i].State == task.Blocked ||
			!before.List.Tasks[i].Pending() {
			continue
		}
		switch {
		case t.Word != "":
			marks = append(marks, Mark{t.ID, misspelt(t, left.List.Warnings)})
		case t.ID == id:
			own = true
		default:
			marks = append(marks, Mark{t.ID, "it was marked as blocked in the iteration of another task"})
		}
	}
	return marks, own
}

// misspelt returns what is wrong with the state that the agent wrote.
func misspelt(t task.Task, warnings []string) string {
	for _, text := range warnings {
		if strings.Contains(text, fmt.Sprintf("line %d", t.Line)) && strings.Contains(text, t.Word) {
			return "the agent left this: " + text
		}
	}
	return fmt.Sprintf("the agent marked it %q", t.Word)
}
