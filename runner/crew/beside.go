package crew

// This file chooses the tasks that may run at the same time as others. It is pure.

import (
	"slices"

	"ralph/runner/task"
)

// BesideRule is what has to be respected.
type BesideRule struct {
	// Busy holds the ids of the tasks that are worked on, or wait to land.
	Busy map[string]bool
	// Any lets tasks run side by side that the plan says nothing about.
	Any bool
	// Skip leaves a task out for now: it was put aside or put off, or waits; nil: none.
	Skip func(task.Task) bool
}

// Next is the task that may start beside those that are busy. While nothing is busy, everything
// may that comes next in the plan.
func (r BesideRule) Next(list task.List) (task.Task, bool) {
	order := r.Any || slices.ContainsFunc(list.Tasks, func(t task.Task) bool { return len(t.DependsOn) > 0 })
	free := func(t task.Task) bool { return t.Parallel || order }
	list.Tasks = slices.Clone(list.Tasks)
	wall := false // an open task stands above that nothing may pass
	for i, t := range list.Tasks {
		if !t.Pending() || !t.Required() {
			continue
		}
		busy := r.Busy[t.ID]
		if busy && !free(t) {
			return task.Task{}, false
		}
		if busy || wall || len(r.Busy) > 0 && !free(t) || r.Skip != nil && r.Skip(t) {
			list.Tasks[i].State = task.Blocked
		}
		wall = wall || !free(t) && len(r.Busy) > 0
	}
	t, ok := list.Next()
	if !ok {
		return task.Task{}, false
	}
	return list.Find(t.ID)
}

// Silent reports whether the plan has several open tasks and says of none that it may run beside another.
func Silent(list task.List) bool {
	open := 0
	for _, t := range list.Tasks {
		if len(t.DependsOn) > 0 {
			return false
		}
		if t.Pending() && t.Required() {
			if t.Parallel {
				return false
			}
			open++
		}
	}
	return open > 1
}
