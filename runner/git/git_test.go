package git

import (
	"context"
	"os"
	"testing"

	"ralph/internal/world"
)

func TestMain(m *testing.M) {
	os.Exit(world.GitMain(m))
}

// project is a repository with one commit of a.txt, b.txt and sub/c.txt, in
// which dirty.txt is untracked and b.txt is changed.
type project struct{ world.Folder }

// newFolder is not a repository, and empty.
func newFolder(t testing.TB) project {
	return project{world.Folder{TB: t, Dir: t.TempDir()}}
}

func newProject(t testing.TB) project {
	t.Helper()
	p := newFolder(t)
	p.Git("init", "-q")
	p.Write("a.txt", "a\n")
	p.Write("b.txt", "b\n")
	p.Write("sub/c.txt", "c\n")
	p.Commit("first")
	p.Write("b.txt", "b changed\n")
	p.Write("dirty.txt", "dirty\n")
	return p
}

func (p project) observe() Snapshot {
	p.Helper()
	s, err := Observe(context.Background(), p.Dir)
	p.Do(err)
	return s
}

// conflict stops an operation of git that takes the other branch in.
func (p project) conflict(args ...string) {
	p.Helper()
	p.Commit("all")
	p.Git("checkout", "-q", "-b", "other")
	p.Write("a.txt", "theirs\n")
	p.Commit("theirs")
	p.Git("checkout", "-q", "-")
	p.Write("a.txt", "ours\n")
	p.Commit("ours")
	if out, code := p.Run(append([]string{"git"}, args...)...); code == 0 {
		p.Fatalf("git %v met no conflict: %s", args, out)
	}
}
