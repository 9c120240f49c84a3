package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

// unseen is a change of which git and the audit do not see everything.
func unseen() Input {
	return Input{Count: 6002, Listed: 1000, Large: []string{"a.csv", "b.csv"}, Discarded: []string{"1", "2", "3", "4", "5", "6", "7"}, Restore: "git restore",
		Hidden: []Hidden{
			{File: "code.go", Flag: "skip-worktree"}, {File: "more.go", Flag: "skip-worktree"}, {File: "x_test.go", Flag: "assume-unchanged"},
			{File: "a_test.go", Rule: "*_test.go", Place: ".gitignore"}, {File: "b.go", Rule: "b.go", Place: ".gitignore"},
		}}
}

func TestCompare_whatCannotBeSeen_isNamed(t *testing.T) {
	want := []Finding{
		{Kind: KindHidden, Text: `git does not show changes of these files any more, hidden by the new rule "*_test.go" in .gitignore: a_test.go`},
		{Kind: KindHidden, Text: "git does not show changes of these files any more, marked assume-unchanged: x_test.go"},
		{Kind: KindHidden, Text: "git does not show changes of these files any more, marked skip-worktree: code.go, more.go"},
		{Kind: KindDiscarded, Text: "your uncommitted changes in 1, 2, 3, 4, 5 and 2 more are gone; to restore them: git restore"},
		{Kind: KindNotAudited, Doubt: true, Text: "audited 1,000 of 6,002 files"},
		{Kind: KindNotAudited, Doubt: true, Text: "not audited, above 1 MiB: a.csv, b.csv"},
	}
	if d := cmp.Diff(want, Compare(unseen())); d != "" {
		t.Error(d)
	}
}

func TestCompare_ruleThatHidesWhatTheTaskNames(t *testing.T) {
	for title, want := range map[string]int{
		"Add `tariffs/legacy.py` that reads the old export":      1,
		"Add `tariffs/legacy.py` and let git ignore what it has": 0,
		"Add `tariffs/model.py`":                                 0,
	} {
		in := Input{Files: []File{{Path: ".gitignore", Before: "build/\n", After: "build/\nlegacy*\n", Existed: true, Exists: true}},
			PlanBefore: []task.Task{{ID: "1", Title: title}}, Task: "1"}
		if got := in.sight(); len(got) != want {
			t.Errorf("%s: %v", title, got)
		}
	}
}
