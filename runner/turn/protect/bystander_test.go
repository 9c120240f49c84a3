package protect

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

// While a bystander runs, the run itself and people may change the plan: only what they wrote stays.
func TestBystander_othersChangeThePlanToo_onlyThatStays(t *testing.T) {
	const open, ticked, gone = "- [ ] one\n- [ ] two\n", "- [ ] one\n- [x] two\n", "- [ ] one\n"
	to := func(s task.State) *task.State { return &s }
	for name, c := range map[string]struct {
		before, person string // empty: nobody
		run            *task.State
		after, want    string
		found          int
	}{
		"the run ticks it":                           {open, "", to(task.Done), ticked, ticked, 0},
		"the run ticks it, the bystander another":    {open, "", to(task.Done), "- [x] one\n- [x] two\n", ticked, 1},
		"the run removes it":                         {open, "", nil, gone, gone, 0},
		"the run ticks it, the bystander removes it": {open, "", to(task.Done), gone, gone, 1},
		"the run reopens it":                         {ticked, "", to(task.Open), open, open, 0},
		"the run reopens it, the bystander ticks":    {ticked, "", to(task.Open), ticked, open, 1},
		"the run reopens it, a person ticks":         {open, ticked, to(task.Open), ticked, ticked, 0},
		"a person ticks it, the run reopens it":      {open, ticked, to(task.Open), open, open, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := store.File{Path: filepath.Join(t.TempDir(), "fix_plan.md"), Name: "fix_plan.md", Edits: filepath.Join(t.TempDir(), "edits")}
			put := func(text string) store.Plan {
				t.Helper()
				if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return store.Read(f)
			}
			two := put(c.before).List.Tasks[1].ID
			b := Watch(f, "", 1)
			if c.person != "" {
				was, is := b.plan.before.List.Tasks[1], put(c.person).List.Tasks[1]
				if err := store.RecordEdit(f.Edits, store.JournalEdit{Before: &was, After: &is}); err != nil {
					t.Error(err)
				}
			}
			put(c.after)
			found, err := b.Settle(func(time.Time) map[string]*task.State { return map[string]*task.State{two: c.run} }, nil)
			if text, _ := os.ReadFile(f.Path); string(text) != c.want || len(found) != c.found || err != nil {
				t.Errorf("plan:\n%sfound %v, %v", text, found, err)
			}
		})
	}
}
