package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/git"
	"ralph/runner/task"
)

// damaged is a turn that harmed the repository.
func damaged() Input {
	return Input{Repository: Repository{
		Lost: []git.Lost{{What: git.LostCommits, Name: "main", Text: "commits of main are gone"}},
		Head: []string{"HEAD was detached"}, Operation: "merge", Unmerged: []string{"a", "b"}, Conflicts: []string{"b", "c.go"}}}
}

func TestCompare_damagedRepository_isNamed(t *testing.T) {
	want := []Finding{
		{Kind: KindLost, Text: "commits of main are gone"},
		{Kind: KindHead, Text: "HEAD was detached"},
		{Kind: KindUnfinished, Text: "a merge is in progress: finish it, or abort it with git merge --abort; conflicts are not resolved in a, b"},
		{Kind: KindUnfinished, File: "c.go", Text: "it has conflict markers that were not there before"},
	}
	if d := cmp.Diff(want, Compare(damaged())); d != "" {
		t.Error(d)
	}
}

func TestCompare_refThatTheTaskAsksToRemove_isNoFinding(t *testing.T) {
	for title, want := range map[string]int{
		"Delete the branch old-login":          0,
		"Remove old-login and its tests":       0,
		"Delete the branch old-login-2":        1,
		"Rework `old-login`":                   1,
		"Clean up the names of the middleware": 1,
	} {
		plan := []task.Task{{ID: "1", Title: title}}
		in := Input{Task: "1", PlanBefore: plan, PlanAfter: plan, Repository: Repository{
			Lost: []git.Lost{{What: git.LostCommits, Name: "old-login", Gone: true, Text: "gone"}}}}
		if got := Compare(in); len(got) != want {
			t.Errorf("%s: %v", title, got)
		}
		in.Lost[0].Gone = false // it was only moved back
		if got := Compare(in); len(got) != 1 {
			t.Errorf("%s, and its commits are lost: %v", title, got)
		}
	}
}
