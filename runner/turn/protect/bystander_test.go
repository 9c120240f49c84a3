package protect

import (
	"os"
	"path/filepath"
	"strings"
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

// A plan that a bystander left unusable is put back, with what the run wrote meanwhile. What a person has changed with
// ralph's commands cannot be told from it: then it stays, and ralph says so.
func TestBystander_planIsBroken(t *testing.T) {
	const text = "- [ ] one\n- [ ] two\n- [ ] three\n"
	to := func(s task.State) *task.State { return &s }
	for name, c := range map[string]struct {
		run    map[string]*task.State // by title
		person bool
		made   string // empty: the plan is gone
		want   string
		back   string // of the only finding
	}{
		"alone":                     {nil, false, "none\n", text, "ralph restored the plan"},
		"the run ticks":             {map[string]*task.State{"two": to(task.Done)}, false, "none\n", "- [ ] one\n- [x] two\n- [ ] three\n", "ralph restored the plan"},
		"the run ticks, gone":       {map[string]*task.State{"two": to(task.Done)}, false, "", "- [ ] one\n- [x] two\n- [ ] three\n", "ralph restored the plan"},
		"the run ticks and removes": {map[string]*task.State{"two": to(task.Done), "three": nil}, false, "", "- [ ] one\n- [x] two\n", "ralph restored the plan"},
		"a person":                  {nil, true, "", "", "ralph left it"},
		"the run and a person":      {map[string]*task.State{"two": to(task.Done)}, true, "none\n", "none\n", "ralph left it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := store.File{Path: filepath.Join(t.TempDir(), "fix_plan.md"), Name: "fix_plan.md", Edits: filepath.Join(t.TempDir(), "edits")}
			write(t, f.Path, text)
			before := store.Read(f)
			own := map[string]*task.State{}
			for _, one := range before.List.Tasks {
				if to, noted := c.run[one.Title]; noted {
					own[one.ID] = to
				}
			}
			b := Watch(f, "", 1)
			if c.person {
				was, is := before.List.Tasks[0], before.List.Tasks[0]
				is.State = task.Done
				if err := store.RecordEdit(f.Edits, store.JournalEdit{Before: &was, After: &is}); err != nil {
					t.Error(err)
				}
			}
			if write(t, f.Path, c.made); c.made == "" {
				_ = os.Remove(f.Path)
			}
			found, err := b.Settle(func(time.Time) map[string]*task.State { return own }, nil)
			now, _ := os.ReadFile(f.Path)
			if string(now) != c.want || err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "cannot be used") || !strings.Contains(found[0].Text, c.back) {
				t.Errorf("plan %q, %v, %+v", now, err, found)
			}
		})
	}
}

// A tool of a reviewer may have removed the plan while it ran. Later, only a person can have done it.
func TestBystander_planIsGone_isPutBackIfAToolRan(t *testing.T) {
	for _, ran := range []bool{true, false} {
		f := store.File{Path: filepath.Join(t.TempDir(), "plan.md"), Name: "plan.md"}
		write(t, f.Path, "- [ ] one\n")
		b := Watch(f, "", 1)
		_ = os.Remove(f.Path)
		ended := time.Now().Add(map[bool]time.Duration{true: 0, false: -time.Hour}[ran])
		found, err := b.Settle(nil, func(at time.Time) bool { return at.Before(ended) })
		if _, gone := os.Stat(f.Path); (gone == nil) != ran || (len(found) == 1) != ran || err != nil {
			t.Errorf("a tool ran %t: %v, %v, %+v", ran, gone, err, found)
		}
	}
}
