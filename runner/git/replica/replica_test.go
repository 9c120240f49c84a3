package replica_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/git/replica"
)

func TestMain(m *testing.M) { os.Exit(world.GitMain(m)) }

// project is a repository with one commit, and a home for copies.
func project(t *testing.T) (p world.Folder, home string) {
	t.Helper()
	p = world.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "shop")}
	p.Write(".gitignore", "node_modules/\ntarget/\ndist/\n.venv/\n")
	p.Write("sub/a", "1")
	p.Write("Cargo.toml", "")
	p.Git("init", "-q")
	p.Commit("first")
	return p, filepath.Join(t.TempDir(), "copies")
}

func made(t *testing.T, home, dir, oid string) (*replica.Replica, world.Folder) {
	t.Helper()
	r, err := replica.Make(context.Background(), home, dir, oid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, world.Folder{TB: t, Dir: r.Dir}
}

func TestMake_state_isWrittenElsewhereOnly(t *testing.T) {
	p, home := project(t)
	oid := p.Git("rev-parse", "HEAD")
	p.Write("sub/a", "later")
	p.Git("add", "sub/a")
	before := p.Git("status", "--porcelain")
	r, in := made(t, home, p.Path("sub"), oid)
	if got := in.Read("a"); got != "1" || filepath.Base(r.Dir) != "sub" {
		t.Errorf("%q in %s", got, r.Dir)
	}
	if after := p.Git("status", "--porcelain"); after != before {
		t.Errorf("%q, before %q", after, before)
	}
	r.Close()
	if left, _ := filepath.Glob(home + "/*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestMake_ignoredFolders_installedOnesAreBorrowed(t *testing.T) {
	p, home := project(t)
	for _, dir := range []string{"node_modules", "target", "dist", ".venv", "sub/node_modules", "new/node_modules"} {
		p.Write(dir+"/x", "")
	}
	r, _ := made(t, home, p.Dir, "HEAD")
	var got []string
	for _, dir := range r.Borrowed {
		rel, _ := filepath.Rel(p.Dir, dir)
		got = append(got, rel)
		if _, err := os.Stat(filepath.Join(r.Dir, rel, "x")); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff([]string{".venv", "node_modules", "sub/node_modules"}, got); d != "" {
		t.Error(d)
	}
}

// Bytecode that is in the state may be that of another text of its file.
func TestEnv_bytecodeInTheState_isNotRun(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	p, home := project(t)
	run := func(dir string, env []string, args ...string) string {
		c := exec.Command(python, args...)
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	p.Write("shop.py", "print(1)\n")
	run(p.Dir, nil, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "shop.py")
	p.Write("shop.py", "print(2)\n")
	p.Commit("bytecode of another text")
	r, in := made(t, home, p.Dir, p.Git("rev-parse", "HEAD"))
	if prefix := run(r.Dir, nil, "-c", "import sys; print(sys.pycache_prefix)"); prefix != "None\n" {
		t.Skip("this Python keeps its bytecode elsewhere")
	}
	if got := run(r.Dir, nil, "-c", "import shop"); got != "1\n" {
		t.Fatalf("the bytecode is not run at all: %q", got)
	}
	if got := run(r.Dir, r.Env(), "-c", "import shop"); got != "2\n" {
		t.Errorf("ran %q, want what shop.py says: 2", got)
	}
	in.Write("new.py", "print(3)\n")
	run(r.Dir, r.Env(), "-c", "import new")
	if left, _ := filepath.Glob(in.Path("__pycache__/new*")); len(left) > 0 {
		t.Errorf("written: %v", left)
	}
}

func TestPut_linkThatLeadsOut_isNotFollowed(t *testing.T) {
	p, home := project(t)
	out := t.TempDir()
	p.Do(os.Symlink(out, p.Path("tests")))
	p.Commit("link")
	r, in := made(t, home, p.Dir, "HEAD")
	if err := r.Put("tests/a", "x", true); err == nil {
		t.Error("it was followed")
	}
	p.Do(r.Put("deep/b", "x", true))
	p.Do(r.Put("sub/a", "", false))
	p.Do(r.Put("sub/a", "", false))
	p.Do(r.Put("bin/tool", "#!/bin/sh\necho tool\n", true))
	if said, code := in.Run(in.Path("bin/tool")); code != 0 || said != "tool\n" {
		t.Errorf("%d %q", code, said)
	}
	if got := in.Read("deep/b"); got != "x" {
		t.Errorf("%q", got)
	}
	if got := p.Read("sub/a"); got != "1" {
		t.Errorf("the project has %q", got)
	}
}

func TestSweep_copies_goWhenTheirProgramIsGone(t *testing.T) {
	p, home := project(t)
	_, in := made(t, home, p.Dir, "HEAD")
	dead := filepath.Join(home, "copy-dead")
	p.Do(os.MkdirAll(filepath.Join(dead, "shop"), 0o700))
	p.Do(os.WriteFile(filepath.Join(dead, "shop", "file"), nil, 0o400))
	p.Do(os.Chmod(filepath.Join(dead, "shop"), 0o500))
	p.Do(os.WriteFile(filepath.Join(home, "other"), nil, 0o600))
	replica.Sweep(home)
	if _, err := os.Stat(dead); err == nil {
		t.Error("a dead copy is still there")
	}
	if got := in.Read("sub/a"); got != "1" {
		t.Errorf("a living copy has %q", got)
	}
	if _, err := os.Stat(filepath.Join(home, "other")); err != nil {
		t.Error(err)
	}
}

func TestMake_withoutHome_saysWhy(t *testing.T) {
	p, _ := project(t)
	if _, err := replica.Make(context.Background(), replica.Home(nil), p.Dir, "HEAD"); err == nil {
		t.Error("no error")
	}
	for env, want := range map[string]string{"HOME=/h": "/h/.cache/ralph/copies", "XDG_CACHE_HOME=/c": "/c/ralph/copies", "HOME=relative": ""} {
		if got := replica.Home([]string{env}); got != want {
			t.Errorf("%s: %q", env, got)
		}
	}
}
