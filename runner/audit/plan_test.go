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
		t.ID, t.Title, t.State = t.ID+note, t.Title+note, task.Done
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

func TestComparePlans_earlyTick_tellsWhenNothingNamesItsCode(t *testing.T) {
	for title, unseen := range map[string]bool{
		"Add Cart.discount(percent) with tests": true, "Add to_json": true, "Write export_all() and Cart.Merge": true,
		"Add Cart.merge(other), so that Cart.show() has all": true, "Add Cart.remove(name), as Cart.show() does": false,
		"Add Cart.remove(name)": false, "Add tests/test_cart.py": false, "Add the file(s) of macOS": false, "Write the parser (all of it)": false,
	} {
		in := Input{
			PlanBefore: []task.Task{{ID: "1", Title: "one"}, {ID: "2", Title: title}}, Task: "1",
			PlanAfter: []task.Task{{ID: "1", Title: "one", State: task.Done}, {ID: "2", Title: title, State: task.Done}},
			Files: []File{{Path: "cart.py", Before: "def show(self):\n", After: "def show(self):\ndef remove(self, name):", Existed: true, Exists: true},
				{Path: "tests/test_cart.py", Exists: true}},
		}
		if found := comparePlans(in); len(found) != 1 || found[0].Kind != KindForeignTick || found[0].Unseen != unseen {
			t.Errorf("%s: %+v", title, found)
		}
		in.Partial = true
		if found := comparePlans(in); found[0].Unseen {
			t.Errorf("%s: not all files are known, but %+v", title, found)
		}
	}
}

func TestComparePlans_earlyTick_isSeenOnlyInNewCode(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          bool
	}{
		"code":         {"", "def discount(percent):\n    return 1\n", true},
		"a comment":    {"", "# TODO: discount(percent)\n", false},
		"nothing":      {"", "def total():\n    return 1\n", false},
		"it was there": {"def discount(percent):\n    return 1\n", "def discount(percent):\n    return 2\n", false},
	} {
		list := func(state task.State) []task.Task {
			return []task.Task{{ID: "1", Title: "one", State: state}, {ID: "2", Title: "Add Cart.discount(percent)", State: state}}
		}
		found := comparePlans(Input{PlanBefore: list(task.Open), PlanAfter: list(task.Done), Task: "1",
			Files: []File{{Path: "cart.py", Before: c.before, After: c.after, Existed: true, Exists: true}}})
		if len(found) != 1 || found[0].Seen != c.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestComparePlans_earlyTickOfACommand_isSeenInAScript(t *testing.T) {
	list := func(state task.State) []task.Task {
		return []task.Task{{ID: "1", Title: "one", State: state}, {ID: "2", Title: "`todo count` prints how many there are", State: state}}
	}
	for after, want := range map[string]bool{"# todo\ncount) wc -l ;;\n": true, "# todo\n# count\n": false} {
		found := comparePlans(Input{PlanBefore: list(task.Open), PlanAfter: list(task.Done), Task: "1",
			Files: []File{{Path: "bin/todo", Before: "# todo\n", After: after, Existed: true, Exists: true}}})
		if len(found) != 1 || found[0].Seen != want {
			t.Errorf("%q: %+v", after, found)
		}
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
		"done, and moved there":           {one, with(func(t *task.Task) { t.Optional, t.State = true, task.Done }), "", `the task "Import customers" was ticked, and the iteration was for another one`},
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
		"one instead of many":           {one, with(func(t *task.Task) { t.Title = "Import customer" }), "", `the task "Import customers" was changed to "Import customer"`},
		"it asks for something else":    {one, with(func(t *task.Task) { t.Title = "Import a customer" }), "Split lines at commas", `the task "Import customers" was changed to "Import a customer"`},
	} {
		t.Run(name, func(t *testing.T) {
			selected := task.Task{ID: "2", Title: c.asked}
			wantText(t, Input{PlanBefore: []task.Task{c.was, selected}, PlanAfter: []task.Task{c.is, selected}, Task: "2"}, c.want)
		})
	}
}

func TestOnlyComments(t *testing.T) {
	comment := File{Path: "a.go", Before: "func f() {}\n", After: "// f is safe.\nfunc f() {}\n", Existed: true, Exists: true}
	code := File{Path: "b.go", Before: "func g() {}\n", After: "func g() { f() }\n", Existed: true, Exists: true}
	for _, c := range []struct {
		name, task string
		files      []File
		want       bool
	}{
		{"a comment", "Add a lock to f", []File{comment}, true},
		{"code, too", "Add a lock to f", []File{comment, code}, false},
		{"asked for", "Add a comment to f", []File{comment}, false},
		{"nothing", "Add a lock to f", nil, false},
	} {
		in := Input{Files: c.files, Task: "1", PlanBefore: []task.Task{{ID: "1", Title: c.task}}}
		if got := in.OnlyComments(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
