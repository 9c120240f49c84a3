package task

import "slices"

// Merge applies to tasks what changed from one version of a plan to another.
func Merge(tasks, from, to []Task, same func(a, b Task) bool) []Task {
	inTasks, inFrom, inTo := Index(tasks), Index(from), Index(to)
	var all []Task
	for _, t := range tasks {
		was, old := inFrom[t.ID]
		is, stays := inTo[t.ID]
		switch {
		case !old: // neither version has it
			all = append(all, t)
		case stays && !same(from[was], to[is]):
			all = append(all, to[is])
		case stays:
			all = append(all, t)
		}
	}
	for _, t := range to {
		_, old := inFrom[t.ID]
		if _, known := inTasks[t.ID]; !old && !known {
			all = append(all, t)
		}
	}
	return all
}

// Index returns the index of each task by its id: the first one if several share it.
func Index(tasks []Task) map[string]int {
	at := make(map[string]int, len(tasks))
	for i, t := range slices.Backward(tasks) {
		at[t.ID] = i
	}
	return at
}
