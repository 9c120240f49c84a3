package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A box whose id comes from its text gets a new one by a note behind it.
func TestCompare_notesBehindBoxes_ticksOfTheSelectedTaskStay(t *testing.T) {
	parent, child := Task{ID: "p", Title: "Parent"}, Task{ID: "c", Title: "Write the parser", Depth: 1}
	done := func(t Task, note string) Task {
		t.ID, t.Title, t.Done = t.ID+note, t.Title+note, true
		return t
	}
	other := Task{ID: "o", Title: "Another thing"}
	for name, tc := range map[string]struct {
		task  string
		after []Task
		want  []Finding
	}{
		"the child, with a note":    {"c", []Task{done(parent, ""), done(child, " (done in abc123)"), other}, nil},
		"the parent, with a note":   {"p", []Task{done(parent, " (see docs)"), done(child, ""), other}, nil},
		"both, the child selected":  {"c", []Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}, nil},
		"both, the parent selected": {"p", []Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}, nil},
		"both, another one selected": {"o", []Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}, []Finding{
			{Foreign, "p (see docs)", `the task "Parent (see docs)" was ticked, and the iteration was for another one`},
			{Foreign, "c (done in abc123)", `the task "Write the parser (done in abc123)" was ticked, and the iteration was for another one`},
		}},
		"the parent of an open child": {"c", []Task{done(parent, " (see docs)"), child, other}, []Finding{
			{Foreign, "p (see docs)", `the task "Parent (see docs)" was ticked, and the iteration was for another one`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, Compare(Input{Before: []Task{parent, child, other}, After: tc.after, Task: tc.task})); d != "" {
				t.Error(d)
			}
		})
	}
}

// Steps are counted in allocations: they do not depend on what else runs.
func TestCompare_longPlanRewritten_costGrowsWithItsLength(t *testing.T) {
	cost := func(n int) float64 {
		var in Input
		for i := range n {
			in.Before = append(in.Before, Task{ID: fmt.Sprint("a", i), Title: fmt.Sprintf("write part %d of it well", i)})
			in.After = append(in.After, Task{ID: fmt.Sprint("b", i), Title: fmt.Sprintf("make piece %d from other stuff", i)})
		}
		return testing.AllocsPerRun(1, func() { Compare(in) })
	}
	if few, many := cost(30), cost(120); many > 6*few {
		t.Errorf("%.0f allocations for 30 boxes, %.0f for 120", few, many)
	}
}
