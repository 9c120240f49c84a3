package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

// A box whose id comes from its text gets a new one by a note behind it.
func TestTicks_notesBehindBoxes_areOfTheSelectedTask(t *testing.T) {
	parent, child := task.Task{ID: "p", Title: "Parent"}, task.Task{ID: "c", Title: "Write the parser", Depth: 1}
	done := func(t task.Task, note string) task.Task {
		t.ID, t.Title, t.State = t.ID+note, t.Title+note, task.Done
		return t
	}
	other := task.Task{ID: "o", Title: "Another thing"}
	both := []task.Task{done(parent, " (see docs)"), done(child, " (done in abc123)"), other}
	for name, tc := range map[string]struct {
		task  string
		after []task.Task
		want  string
	}{
		"the child, with a note":      {"c", []task.Task{done(parent, ""), done(child, " (done in abc123)"), other}, "own own"},
		"the parent, with a note":     {"p", []task.Task{done(parent, " (see docs)"), done(child, ""), other}, "own own"},
		"both, the child selected":    {"c", both, "own own"},
		"both, the parent selected":   {"p", both, "own own"},
		"both, another one selected":  {"o", both, "foreign foreign"},
		"no task selected":            {"", both, "own own"},
		"the parent of an open child": {"c", []task.Task{done(parent, " (see docs)"), child, other}, "foreign with open parts"},
	} {
		var got []string
		for _, tick := range Ticks(Input{PlanBefore: []task.Task{parent, child, other}, PlanAfter: tc.after, Task: tc.task}) {
			word := map[bool]string{true: "own", false: "foreign"}[tick.Own]
			if tick.Parts {
				word += " with open parts"
			}
			got = append(got, word)
		}
		if d := cmp.Diff(tc.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
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

func TestComparePlans_easierTasks(t *testing.T) {
	one := task.Task{ID: "1", Title: "Import customers", Description: "It handles files of 2 GB\nand reports each bad line.\nStatus: open"}
	with := func(change func(*task.Task)) task.Task {
		is := one
		change(&is)
		return is
	}
	for name, c := range map[string]struct {
		was, is task.Task
		asked   string // text of the selected task
		want    string
	}{
		"moved below an optional heading": {one, with(func(t *task.Task) { t.Optional, t.Section = true, "Later" }), "", `the open task "Import customers" was moved below the optional heading "Later"`},
		"done, and moved there":           {one, with(func(t *task.Task) { t.Optional, t.State = true, task.Done }), "", ""},
		"it was optional before":          {with(func(t *task.Task) { t.Optional = true }), with(func(t *task.Task) { t.Optional, t.Title = true, "Import some customers" }), "", ""},
		"a smaller number":                {one, with(func(t *task.Task) { t.Description = "It handles files of 2 MB\nand reports each bad line." }), "", `"It handles files of 2 GB" was changed or removed in the description of the task "Import customers"`},
		"a line less":                     {one, with(func(t *task.Task) { t.Description = "It handles files of 2 GB" }), "", `"and reports each bad line." was changed or removed in the description of the task "Import customers"`},
		"wrapped anew, with notes": {one, with(func(t *task.Task) {
			t.Description = "It handles files of\n2 GB and reports each bad line. Done so far: reading.\nStatus: half"
		}), "", ""},
		"now a criterion": {one, with(func(t *task.Task) {
			t.Description = "It handles files of 2 GB"
			t.Criteria = []string{"and reports each bad line"}
		}), "", ""},
		"the selected task asks for it": {one, with(func(t *task.Task) { t.Title = "Import a customer" }), "Split the other tasks where they are too large", ""},
		"a typing error is corrected":   {with(func(t *task.Task) { t.Title = "Import custmers" }), one, "", ""},
		"a dot for a mark of code":      {with(func(t *task.Task) { t.Title = "`free(map)` lists customers" }), with(func(t *task.Task) { t.Title = ".free(map)` lists customers" }), "", ""},
		"one instead of many":           {one, with(func(t *task.Task) { t.Title = "Import customer" }), "", `the task "Import customers" was changed to "Import customer"`},
		"it asks for something else":    {one, with(func(t *task.Task) { t.Title = "Import a customer" }), "Split lines at commas", `the task "Import customers" was changed to "Import a customer"`},
	} {
		t.Run(name, func(t *testing.T) {
			selected := task.Task{ID: "2", Title: c.asked}
			wantText(t, Input{PlanBefore: []task.Task{c.was, selected}, PlanAfter: []task.Task{c.is, selected}, Task: "2"}, c.want)
		})
	}
}
