package store

import (
	"ralph/runner/task"
	"ralph/state/option"
)

// Selection has the user's options. The zero value: all tasks, and they stay in the plan.
type Selection struct {
	OnlyTasks []string
	PopTasks  bool // archive finished tasks and remove them from the plan
}

// View returns the view of the plan that the user wants.
func (o Selection) View() task.View { return task.View{Tasks: o.OnlyTasks} }

// Options returns the rows of the option table that fill o.
func (o *Selection) Options() []option.Row {
	return []option.Row{
		{
			Group: "Prompt and plan", Key: "ONLY_TASK", Flag: "task", Arg: "LIST", YAML: "plan.task", Kind: option.List,
			Field: &o.OnlyTasks, Help: "Work only on these tasks: ids, or the beginnings of titles.",
		},
		{
			Group: "Prompt and plan", Key: "POP_TASKS", Flag: "pop-tasks", YAML: "plan.pop_tasks", Kind: option.Bool,
			Default: "false", Trust: true, Safe: []string{"false"}, Field: &o.PopTasks,
			Help: "Remove a finished task from the plan after its commit; .ralph/archive/ keeps it.",
		},
	}
}
