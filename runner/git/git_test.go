package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "git-test-home")
	if err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
		"GIT_CEILING_DIRECTORIES": os.TempDir(),
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	config := "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o644); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(home); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// project is a repository with one commit of a.txt, b.txt and sub/c.txt, in
// which dirty.txt is untracked and b.txt is changed.
type project struct {
	t   testing.TB
	dir string
}

func newProject(t testing.TB) project {
	t.Helper()
	p := project{t, t.TempDir()}
	p.git("init", "-q")
	p.write("a.txt", "a\n")
	p.write("b.txt", "b\n")
	p.write("sub/c.txt", "c\n")
	p.commit("first")
	p.write("b.txt", "b changed\n")
	p.write("dirty.txt", "dirty\n")
	return p
}

func (p project) git(args ...string) {
	p.t.Helper()
	if out, err := p.tryGit(args...); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (p project) tryGit(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p project) commit(message string) {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "--allow-empty", "-m", message)
}

func (p project) path(name string) string { return filepath.Join(p.dir, name) }

func (p project) do(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p project) write(name, content string) {
	p.t.Helper()
	p.do(os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	p.do(os.WriteFile(p.path(name), []byte(content), 0o644))
}

func (p project) observe() Snapshot {
	p.t.Helper()
	s, err := Observe(context.Background(), p.dir)
	p.do(err)
	return s
}

// conflict stops an operation of git that takes the other branch in.
func (p project) conflict(args ...string) {
	p.t.Helper()
	p.commit("all")
	p.git("checkout", "-q", "-b", "other")
	p.write("a.txt", "theirs\n")
	p.commit("theirs")
	p.git("checkout", "-q", "-")
	p.write("a.txt", "ours\n")
	p.commit("ours")
	if out, err := p.tryGit(args...); err == nil {
		p.t.Fatalf("git %v met no conflict: %s", args, out)
	}
}
