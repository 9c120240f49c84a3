package git

import (
	"cmp"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"ralph/internal/world"
)

func TestSince_whatGitStopsToShow_isNamed(t *testing.T) {
	for name, test := range map[string]struct {
		do    func(p world.Folder)
		rules bool
		want  []HiddenFile
	}{
		"nothing":          {do: func(world.Folder) {}},
		"a commit":         {do: func(p world.Folder) { p.Write("new.txt", "n"); p.Commit("more") }},
		"assume-unchanged": {do: func(p world.Folder) { p.Git("update-index", "--assume-unchanged", "a_test.go") }, want: []HiddenFile{{File: "a_test.go", Flag: "assume-unchanged"}}},
		"skip-worktree":    {do: func(p world.Folder) { p.Git("update-index", "--skip-worktree", "a_test.go") }, want: []HiddenFile{{File: "a_test.go", Flag: "skip-worktree"}}},
		"info/exclude":     {do: func(p world.Folder) { p.Write(".git/info/exclude", "*_test.go\n") }, want: []HiddenFile{{File: "a_test.go", Rule: "*_test.go", Place: ".git/info/exclude"}}},
		"a rule, and the file taken out of the index": {
			do: func(p world.Folder) {
				p.Write(".gitignore", "old\n/a_test.go\n")
				p.Git("rm", "-q", "--cached", "a_test.go")
				p.Commit("x")
			},
			rules: true, want: []HiddenFile{{File: "a_test.go", Rule: "/a_test.go", Place: ".gitignore"}},
		},
		"another file of rules": {
			do:   func(p world.Folder) { p.Write("rules", "a_*\n"); p.Git("config", "core.excludesFile", p.Path("rules")) },
			want: []HiddenFile{{File: "a_test.go", Rule: "a_*", Place: "rules"}},
		},
		"a rule that hides nothing": {do: func(p world.Folder) { p.Write(".gitignore", "old\ndist/\n") }, rules: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := world.Folder{TB: t, Dir: t.TempDir()}
			p.Git("init", "-q")
			p.Write("a_test.go", "a")
			p.Write("old", "ignored, but tracked")
			p.Write("marked", "marked before")
			p.Write(".gitignore", "old\n")
			p.Git("add", "-f", "old")
			p.Commit("first")
			p.Git("update-index", "--skip-worktree", "marked")
			head := p.Git("rev-parse", "HEAD")
			before, err := LookForHidden(t.Context(), p.Dir)
			p.Do(err)
			test.do(p)
			now, got, err := before.Since(t.Context(), head, test.rules)
			p.Do(err)
			slices.SortFunc(got, func(a, b HiddenFile) int { return cmp.Compare(a.File, b.File) })
			if d := diff.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			if _, again, err := now.Since(t.Context(), head, test.rules); err != nil || len(again) > 0 {
				t.Errorf("found again: %v, %v", again, err)
			}
		})
	}
}
