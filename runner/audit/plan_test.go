package audit

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

// A box whose id comes from its text gets a new one by a note behind it.
func TestComparePlans_notesBehindBoxes_ticksOfTheSelectedTaskStay(t *testing.T) {
	parent, child := task.Task{ID: "p", Title: "Parent"}, task.Task{ID: "c", Title: "Write the parser", Depth: 1}
	done := func(t task.Task, note string) task.Task {
		t.ID, t.Title, t.Done = t.ID+note, t.Title+note, true
		return t
	}
	other := task.Task{ID: "o", Title: "Another thing"}
	for name, tc := range map[string]struct {
		task  string
		after []task.Task
		want  []Finding
	}{
		"the child, with a note":    {"c", []task.Task{done(parent, ""), done(child, " (done in abc123)"), other}, nil},
		"the parent, with a note":   {"p", []task.Task{done(parent, " (see docs)"), done(child, ""), other}, nil},
		"both, the child selected":  {"c", []task.Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}, nil},
		"both, the parent selected": {"p", []task.Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}, nil},
		"both, another one selected": {"o", []task.Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}, []Finding{
			{Kind: KindForeignTick, Task: "p (see docs)", Text: `the task "Parent (see docs)" was ticked, and the iteration was for another one`, Revert: true},
			{Kind: KindForeignTick, Task: "c (done in abc123)", Text: `the task "Write the parser (done in abc123)" was ticked, and the iteration was for another one`, Revert: true},
		}},
		"the parent of an open child": {"c", []task.Task{done(parent, " (see docs)"), child, other}, []Finding{
			{Kind: KindForeignTick, Task: "p (see docs)", Text: `the task "Parent (see docs)" was ticked, and the iteration was for another one`, Revert: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, comparePlans(Input{PlanBefore: []task.Task{parent, child, other}, PlanAfter: tc.after, Task: tc.task})); d != "" {
				t.Error(d)
			}
		})
	}
}

// Steps are counted in allocations: they do not depend on what else runs.
func TestComparePlans_longPlanRewritten_costGrowsWithItsLength(t *testing.T) {
	cost := func(n int) float64 {
		var in Input
		for i := range n {
			in.PlanBefore = append(in.PlanBefore, task.Task{ID: fmt.Sprint("a", i), Title: fmt.Sprintf("write part %d of it well", i)})
			in.PlanAfter = append(in.PlanAfter, task.Task{ID: fmt.Sprint("b", i), Title: fmt.Sprintf("make piece %d from other stuff", i)})
		}
		return testing.AllocsPerRun(1, func() { comparePlans(in) })
	}
	if few, many := cost(30), cost(120); many > 6*few {
		t.Errorf("%.0f allocations for 30 boxes, %.0f for 120", few, many)
	}
}
