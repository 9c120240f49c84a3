package review

import (
	"slices"

	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/turn"
)

// goals is the plan that the work is measured by: as it was when the run began, with
// what people changed between turns, and with what a task asked to change. The agent's
// other edits are not in it.
type goals struct {
	known bool
	tasks []task.Task
	last  []task.Task // the plan as the latest turn left it
}

// follow takes over what happened since the latest turn, and what this one may change.
func (g *goals) follow(res turn.Result) {
	before, left := res.Work.Before, res.Work.Left
	if before.Usable() {
		if g.known && g.last != nil {
			g.tasks = merged(g.tasks, g.last, before.List.Tasks)
		} else if !g.known {
			g.tasks = slices.Clone(before.List.Tasks)
		}
		g.known = true
	}
	g.last = nil // who changes a plan that cannot be read is not known
	if !left.Usable() {
		return
	}
	g.last = left.List.Tasks
	if audit.AsksForPlan(audit.TextOf(res.Task)) && before.Usable() {
		g.tasks = merged(g.tasks, before.List.Tasks, left.List.Tasks)
	}
	g.tasks = audit.Judged(g.tasks, res.Proof.After.List.Tasks) // what is done may move to an archive
}

// merged applies to tasks what changed from one plan to the next.
func merged(tasks, from, to []task.Task) []task.Task {
	find := func(list []task.Task, id string) int {
		return slices.IndexFunc(list, func(t task.Task) bool { return t.ID == id })
	}
	var all []task.Task
	for _, t := range tasks {
		was, is := find(from, t.ID), find(to, t.ID)
		switch {
		case was < 0: // it was gone already
			all = append(all, t)
		case is >= 0 && !same(from[was], to[is]):
			all = append(all, to[is])
		case is >= 0:
			all = append(all, t)
		}
	}
	for _, t := range to {
		if find(from, t.ID) < 0 && find(tasks, t.ID) < 0 {
			all = append(all, t)
		}
	}
	return all
}

// same reports whether two versions of a task ask for the same.
func same(a, b task.Task) bool {
	return a.Title == b.Title && a.Description == b.Description && slices.Equal(a.Criteria, b.Criteria) && a.Optional == b.Optional
}
