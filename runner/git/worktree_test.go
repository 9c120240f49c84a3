package git

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommit_workTreeSetElsewhere_commitsTheProjectsFiles(t *testing.T) {
	p, other := newProject(t), newFolder(t)
	start := p.observe()
	p.Git("config", "core.worktree", other.Dir)
	other.Write("foreign.txt", "foreign\n")
	other.Write("a.txt", "foreign\n")
	p.Write("a.txt", "mine\n")
	now := p.observe()
	if d := cmp.Diff([]string{"a.txt"}, UserFiles{Files: start.Changes()}.LeftOver(now.Changes())); d != "" {
		t.Error(d)
	}
	done, err := Commit(context.Background(), p.Dir, CommitRequest{Files: UserFiles{Files: start.Changes()}.LeftOver(now.Changes()), Message: "x"})
	p.Do(err)
	if got := p.Git("show", done.OID+":a.txt"); got != "mine" {
		t.Errorf("a.txt is committed as %q", got)
	}
	p.Git("config", "--unset", "core.worktree")
	if d := cmp.Diff("a.txt", p.Git("show", "--format=", "--name-only", "HEAD")); d != "" {
		t.Error(d)
	}
}
