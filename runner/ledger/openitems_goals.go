package ledger

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
	before, left := res.Work.Before, res.Work.AsAgentLeft
	if before.Usable() {
		if g.known && g.last != nil {
			g.tasks = task.Merge(g.tasks, g.last, before.List.Tasks, same)
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
		g.tasks = task.Merge(g.tasks, before.List.Tasks, left.List.Tasks, same)
	}
	g.tasks = audit.Judged(g.tasks, res.Proof.After.List.Tasks) // what is done may move to an archive
}

// same reports whether two versions of a task ask for the same.
func same(a, b task.Task) bool {
	return a.Title == b.Title && a.Description == b.Description && slices.Equal(a.Criteria, b.Criteria) &&
		a.Optional == b.Optional
}
