package intact

import (
	"fmt"
	"strings"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

// Mark is what an agent made of a task by which nobody would work on it, and why that does not count.
type Mark struct{ Task, Why string }

// Held are the tasks that the agent keeps from being worked on. own is true when that is its own task, which it may
// call blocked.
func (o Outcome) Held(before, left store.Plan, id string) (marks []Mark, own bool) {
	was := task.Index(before.List.Tasks)
	for _, t := range o.Made(left).List.Tasks {
		i, known := was[t.ID]
		if t.State != task.Blocked || !known || before.List.Tasks[i].State == task.Blocked || !before.List.Tasks[i].Pending() {
			continue
		}
		switch {
		case t.Word != "":
			marks = append(marks, Mark{t.ID, misspelt(t, left.List.Faults)})
		case t.ID == id:
			own = true
		default:
			marks = append(marks, Mark{t.ID, "it was marked as blocked in the iteration of another task"})
		}
	}
	return marks, own
}

// misspelt says what the plan has against the word of a task.
func misspelt(t task.Task, faults []string) string {
	for _, fault := range faults {
		if strings.Contains(fault, fmt.Sprintf("line %d", t.Line)) && strings.Contains(fault, t.Word) {
			return "the agent left this: " + fault
		}
	}
	return fmt.Sprintf("the agent marked it %q", t.Word)
}
