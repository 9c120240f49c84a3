package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/git"
)

// unseen is a change of which git and the audit do not see everything.
func unseen() Input {
	return Input{Count: 6002, Listed: 1000, Large: []string{"a.csv", "b.csv"}, Gone: Gone{[]string{"1", "2", "3", "4", "5", "6", "7"}, "git restore"},
		Hidden: []git.HiddenFile{
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
