package ledger

import (
	"fmt"
	"slices"
	"strconv"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// openitemsUndone is the name of an item about a done task of whose work nothing is left.
const openitemsUndone = "work_undone"

// earned is which turns of this process earned their ticks.
type earned struct {
	run    string
	by     map[string][]int // iterations, by the id of the task
	proven map[string]bool  // tasks whose tests became green: those say whether the work is there
	less   int              // the latest iteration whose task asked for something to go
}

func (e *earned) follow(res turn.Result) {
	if e.by == nil {
		e.by, e.proven = map[string][]int{}, map[string]bool{}
	}
	e.run = res.Origin.Run
	n := res.Origin.Iteration
	credit := func(id string) {
		if !slices.Contains(e.by[id], n) {
			e.by[id] = append(e.by[id], n)
		}
	}
	if res.Proof.Worked && res.Work.Change.Progress() && !res.Proof.OnlyTicks {
		credit(res.Task.ID)
	}
	for _, l := range res.Proof.Links {
		credit(l.Task)
		e.proven[l.Task] = e.proven[l.Task] || l.By == audit.ByTests
	}
	if audit.AsksForLess(audit.TextOf(res.Task)) {
		e.less = n
	}
}

// undone has an item for each done task whose work was taken back, unless a later task may have asked for that.
func (e *earned) undone(tasks []task.Task, iterations []int) (items []state.ReviewItem) {
	for _, t := range tasks {
		turns := e.by[t.ID]
		left := func(n int) bool { return !slices.Contains(iterations, n) }
		if !t.Done() || len(turns) == 0 || e.proven[t.ID] || e.less > slices.Max(turns) || slices.ContainsFunc(turns, left) ||
			audit.AsksForNoChange(audit.TextOf(t)) {
			continue
		}
		var names []string
		for _, n := range turns {
			names = append(names, strconv.Itoa(n))
		}
		items = append(items, state.ReviewItem{Name: openitemsUndone, Task: t.ID, Show: fmt.Sprintf("ralph diff %d --run %s", turns[0], e.run),
			Text: fmt.Sprintf("the task %q is ticked, but nothing is left of its work (iteration %s): a later iteration took it back",
				t.Title, termtext.Some(names, 5))})
	}
	return items
}
