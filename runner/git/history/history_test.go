package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/git"
)

func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "history-test-home")
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
	code := m.Run()
	if err := os.RemoveAll(home); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// project is a repository whose states are kept, the first as the start.
type project struct {
	t    *testing.T
	dir  string
	k    *git.Keeper
	base string
	n    int
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir()}
	p.git("init", "-q", "-b", "main")
	for name, text := range files {
		p.write(name, text)
	}
	p.git("add", "-A")
	p.git("commit", "-q", "--allow-empty", "-m", "first")
	p.k, _ = git.NewKeeper(p.dir)
	p.keep(git.State{Run: "r", Iteration: 1, Start: true})
	return p
}

func (p *project) do(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	p.do(os.MkdirAll(filepath.Dir(path), 0o755))
	p.do(os.WriteFile(path, []byte(text), 0o644))
}

func (p *project) keep(s git.State) {
	p.t.Helper()
	snap, err := git.Observe(context.Background(), p.dir)
	p.do(err)
	p.base, err = p.k.Keep(context.Background(), snap, s)
	p.do(err)
}

// iterate keeps the next state.
func (p *project) iterate() {
	p.t.Helper()
	p.n++
	p.keep(git.State{Run: "r", Iteration: p.n, Base: p.base})
}

func (p *project) list() []Kept {
	p.t.Helper()
	all, err := List(context.Background(), p.dir, "")
	p.do(err)
	return all
}

func (p *project) undo(n int) (*Undo, git.Committed) {
	p.t.Helper()
	all := p.list()
	for _, k := range all {
		if k.Iteration == n && !k.Start {
			u, err := PlanUndo(context.Background(), p.dir, k, all[len(all)-1])
			p.do(err)
			done, err := u.Do(context.Background())
			p.do(err)
			return u, done
		}
	}
	p.t.Fatalf("no iteration %d", n)
	return nil, git.Committed{}
}

// files are all that is in the work tree, with its mode where it is a program.
func (p *project) files() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	p.do(filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		info, infoErr := d.Info()
		name, relErr := filepath.Rel(p.dir, path)
		if info != nil && info.Mode()&0o100 != 0 {
			name += "*"
		}
		found[name] = string(data)
		return errors.Join(err, infoErr, relErr)
	}))
	return found
}

func TestList_startAndIterations_inTheirOrder(t *testing.T) {
	p := newProject(t, map[string]string{"a": "1"})
	p.iterate()
	p.write("a", "2")
	p.iterate()
	p.git("update-ref", "refs/ralph/foreign", "HEAD")
	var got []string
	for _, k := range p.list() {
		got = append(got, fmt.Sprintf("%s/%d %t", k.Run, k.Iteration, k.Start))
		if k.Head != p.git("rev-parse", "HEAD") || time.Since(k.Time) > time.Minute || k.OID != p.git("rev-parse", k.Ref) {
			t.Errorf("%+v", k)
		}
	}
	if d := cmp.Diff([]string{"r/1 true", "r/1 false", "r/2 false"}, got); d != "" {
		t.Error(d)
	}
	if all, err := List(context.Background(), p.dir, "other"); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := List(context.Background(), t.TempDir(), ""); err != nil || len(all) > 0 {
		t.Errorf("without a repository: %v, %v", all, err)
	}
}

func TestPrune_oldOrTooMany_forgetsTheOldest(t *testing.T) {
	p := newProject(t, nil)
	for range 4 {
		p.iterate()
	}
	p.git("tag", "mine")
	for _, tc := range []struct {
		age    time.Duration
		count  int
		pruned int
		left   string
	}{
		{time.Hour, 10, 0, "refs/ralph/r/1\nrefs/ralph/r/1-start\nrefs/ralph/r/2\nrefs/ralph/r/3\nrefs/ralph/r/4"},
		{time.Hour, 3, 2, "refs/ralph/r/2\nrefs/ralph/r/3\nrefs/ralph/r/4"},
		{-time.Hour, 10, 3, ""},
	} {
		n, err := Prune(context.Background(), p.dir, tc.age, tc.count)
		p.do(err)
		if got := p.git("for-each-ref", "--format=%(refname)", "refs/ralph"); n != tc.pruned || got != tc.left {
			t.Errorf("%+v: %d pruned, left %q", tc, n, got)
		}
	}
	if got := p.git("for-each-ref", "--format=%(refname)"); got != "refs/heads/main\nrefs/tags/mine" {
		t.Error(got)
	}
}

func TestUndo_allKindsOfChanges_comeBack(t *testing.T) {
	for _, committed := range []bool{true, false} {
		t.Run(fmt.Sprintf("committed=%t", committed), func(t *testing.T) {
			p := newProject(t, map[string]string{"changed.txt": "one\ntwo\nthree\n", "removed.bin": "\x00\x01\xff", "tool.sh": "#!/bin/sh\n", "sub/deep/x": "x\n", "stays": "s\n"})
			before := p.files()
			p.write("changed.txt", "one\nTWO\nthree\n")
			p.do(os.Remove(filepath.Join(p.dir, "removed.bin")))
			p.do(os.RemoveAll(filepath.Join(p.dir, "sub")))
			p.do(os.Chmod(filepath.Join(p.dir, "tool.sh"), 0o755))
			p.write("new dir/n\u00e9w \"file\".bin", "\x00new")
			if committed {
				p.git("add", "-A")
				p.git("commit", "-q", "-m", "the agent's")
			}
			p.iterate()
			u, done := p.undo(1)
			if d := cmp.Diff(before, p.files()); d != "" {
				t.Error(d)
			}
			if len(u.Files) != 5 || (done.OID != "") != committed {
				t.Errorf("%v, %+v", u.Files, done)
			}
			if status := p.git("status", "--porcelain"); status != "" {
				t.Error(status)
			}
		})
	}
}

func TestUndo_laterIterationElsewhere_stays(t *testing.T) {
	p := newProject(t, map[string]string{"a": strings.Repeat("line\n", 20)})
	p.write("a", "first\n"+strings.Repeat("line\n", 20))
	p.git("commit", "-qam", "one")
	p.iterate()
	p.write("a", "first\n"+strings.Repeat("line\n", 20)+"last\n")
	p.git("commit", "-qam", "two")
	p.iterate()
	p.undo(1)
	if d := cmp.Diff(map[string]string{"a": strings.Repeat("line\n", 20) + "last\n"}, p.files()); d != "" {
		t.Error(d)
	}
}

func TestUndo_iterationWithoutAChange_saysSo(t *testing.T) {
	p := newProject(t, map[string]string{"a": "1"})
	p.iterate()
	all := p.list()
	_, err := PlanUndo(context.Background(), p.dir, all[1], all[1])
	var conflict *ConflictError
	if !errors.As(err, &conflict) || !strings.Contains(conflict.Why, "changed no file") {
		t.Error(err)
	}
}

func TestCheckout_state_isWrittenElsewhereOnly(t *testing.T) {
	p := newProject(t, map[string]string{"a": "1", "sub/b": "2"})
	p.write("untracked", "u")
	p.iterate()
	p.write("a", "later")
	p.git("add", "a")
	before := p.git("status", "--porcelain")
	dest := filepath.Join(t.TempDir(), "copy")
	p.do(Checkout(context.Background(), filepath.Join(p.dir, "sub"), p.base, dest))
	copied := &project{t: t, dir: dest}
	if d := cmp.Diff(map[string]string{"a": "1", "sub/b": "2", "untracked": "u"}, copied.files()); d != "" {
		t.Error(d)
	}
	if after := p.git("status", "--porcelain"); after != before {
		t.Errorf("%q, before %q", after, before)
	}
}

func TestBisect_everyPosition_isFoundInLog2Questions(t *testing.T) {
	for size := 2; size <= 40; size++ {
		states := make([]Kept, size)
		for i := range states {
			states[i].Iteration = i
		}
		for broken := 1; broken < size; broken++ {
			asked := 0
			got, err := Bisect(states, func(k Kept) (bool, error) { asked++; return k.Iteration >= broken, nil })
			if err != nil || got.Iteration != broken || 1<<max(asked-1, 0) > size {
				t.Fatalf("size %d, broken %d: got %d after %d questions, %v", size, broken, got.Iteration, asked, err)
			}
		}
	}
	if _, err := Bisect(make([]Kept, 5), func(Kept) (bool, error) { return false, errors.New("no") }); err == nil {
		t.Error("no error")
	}
}
