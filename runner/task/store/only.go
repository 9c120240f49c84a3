package store

import (
	"ralph/runner/task"
	"ralph/state/option"
)

// Selection has the user's options. The zero value: all tasks, and they stay in the plan.
type Selection struct {
	OnlyCategories []string
	OnlyPriorities []string
	OnlyTags       []string
	OnlyTasks      []string
	PopTasks       bool // archive finished tasks and remove them from the plan
}

// View returns the view of the plan that the user wants.
func (o Selection) View() task.View {
	return task.View{Categories: o.OnlyCategories, Priorities: o.OnlyPriorities, Tags: o.OnlyTags, Tasks: o.OnlyTasks}
}

// Options returns the rows of the option table that fill o.
func (o *Selection) Options() []option.Row {
	list := func(flag, key string, field *[]string, help string) option.Row {
		return option.Row{Group: "Prompt and plan", Key: key, Flag: flag, Arg: "LIST", YAML: "plan." + flag,
			Kind: option.List, Field: field, Help: help}
	}
	return []option.Row{
		list("category", "ONLY_CATEGORY", &o.OnlyCategories,
			"Work only on tasks of these categories, or below these headings."),
		list("priority", "ONLY_PRIORITY", &o.OnlyPriorities,
			"Work only on tasks of these priorities: numbers, or words such as high."),
		list("tag", "ONLY_TAG", &o.OnlyTags, "Work only on tasks with one of these tags."),
		list("task", "ONLY_TASK", &o.OnlyTasks, "Work only on these tasks: ids, or the beginnings of titles."),
		{
			Group: "Prompt and plan", Key: "POP_TASKS", Flag: "pop-tasks", YAML: "plan.pop_tasks", Kind: option.Bool,
			Default: "false", Trust: true, Safe: []string{"false"}, Field: &o.PopTasks,
			Help: "Remove a finished task from the plan after its commit; .ralph/archive/ keeps it.",
		},
	}
}
