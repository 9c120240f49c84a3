package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/git"
)

func TestMain(m *testing.M) { os.Exit(world.GitMain(m)) }

// project is a repository whose states are kept, the first as the start.
type project struct {
	world.Folder
	k    *git.Keeper
	base string
	n    int
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	p := &project{Folder: world.Folder{TB: t, Dir: t.TempDir()}}
	p.Git("init", "-q")
	for name, text := range files {
		p.Write(name, text)
	}
	p.Commit("first")
	p.k, _ = git.NewKeeper(p.Dir)
	p.keep(git.State{Run: "r", Iteration: 1, Start: true})
	return p
}

func (p *project) keep(s git.State) {
	p.Helper()
	snap, err := git.Observe(context.Background(), p.Dir)
	p.Do(err)
	p.base, err = p.k.Keep(context.Background(), snap, s)
	p.Do(err)
}

// iterate keeps the next state.
func (p *project) iterate() {
	p.Helper()
	p.n++
	p.keep(git.State{Run: "r", Iteration: p.n, Base: p.base})
}

func (p *project) list() []Kept {
	p.Helper()
	all, err := List(context.Background(), p.Dir, "")
	p.Do(err)
	return all
}

func (p *project) undo(n int) (*Undo, git.Committed) {
	p.Helper()
	all := p.list()
	for _, k := range all {
		if k.Iteration == n && !k.Start {
			u, err := PlanUndo(context.Background(), p.Dir, Request{Iterations: []Kept{k}, Last: all[len(all)-1], Journal: filepath.Join(p.TempDir(), "journal")})
			p.Do(err)
			done, err := u.Do(context.Background())
			p.Do(err)
			return u, done
		}
	}
	p.Fatalf("no iteration %d", n)
	return nil, git.Committed{}
}

// files are all that is in the work tree, with its mode where it is a program.
func (p *project) files() map[string]string {
	p.Helper()
	found := map[string]string{}
	p.Do(filepath.WalkDir(p.Dir, func(path string, d os.DirEntry, err error) error {
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
		name, relErr := filepath.Rel(p.Dir, path)
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
	p.Write("a", "2")
	p.iterate()
	p.Git("update-ref", "refs/ralph/foreign", "HEAD")
	var got []string
	for _, k := range p.list() {
		got = append(got, fmt.Sprintf("%s/%d %t", k.Run, k.Iteration, k.Start))
		if k.Head != p.Git("rev-parse", "HEAD") || time.Since(k.Time) > time.Minute || k.OID != p.Git("rev-parse", k.Ref) {
			t.Errorf("%+v", k)
		}
	}
	if d := cmp.Diff([]string{"r/1 true", "r/1 false", "r/2 false"}, got); d != "" {
		t.Error(d)
	}
	if all, err := List(context.Background(), p.Dir, "other"); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := List(context.Background(), t.TempDir(), ""); err != nil || len(all) > 0 {
		t.Errorf("without a repository: %v, %v", all, err)
	}
}

func TestPrune_oldOrTooMany_deletesTheOldest(t *testing.T) {
	p := newProject(t, nil)
	for range 4 {
		p.iterate()
	}
	p.Git("tag", "mine")
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
		n, err := Prune(context.Background(), p.Dir, tc.age, tc.count)
		p.Do(err)
		if got := p.Git("for-each-ref", "--format=%(refname)", "refs/ralph"); n != tc.pruned || got != tc.left {
			t.Errorf("%+v: %d pruned, left %q", tc, n, got)
		}
	}
	if got := p.Git("for-each-ref", "--format=%(refname)"); got != "refs/heads/main\nrefs/tags/mine" {
		t.Error(got)
	}
}

func TestUndo_allKindsOfChanges_areReverted(t *testing.T) {
	for _, committed := range []bool{true, false} {
		t.Run(fmt.Sprintf("committed=%t", committed), func(t *testing.T) {
			p := newProject(t, map[string]string{"changed.txt": "one\ntwo\nthree\n", "removed.bin": "\x00\x01\xff", "tool.sh": "#!/bin/sh\n", "sub/deep/x": "x\n", "stays": "s\n"})
			before := p.files()
			p.Write("changed.txt", "one\nTWO\nthree\n")
			p.Do(os.Remove(filepath.Join(p.Dir, "removed.bin")))
			p.Do(os.RemoveAll(filepath.Join(p.Dir, "sub")))
			p.Do(os.Chmod(filepath.Join(p.Dir, "tool.sh"), 0o755))
			p.Write("new dir/n\u00e9w \"file\".bin", "\x00new")
			if committed {
				p.Git("add", "-A")
				p.Git("commit", "-q", "-m", "the agent's")
			}
			p.iterate()
			u, done := p.undo(1)
			if d := cmp.Diff(before, p.files()); d != "" {
				t.Error(d)
			}
			if len(u.Files) != 5 || (done.OID != "") != committed {
				t.Errorf("%v, %+v", u.Files, done)
			}
			if status := p.Git("status", "--porcelain"); status != "" {
				t.Error(status)
			}
		})
	}
}

func TestUndo_laterIterationElsewhere_stays(t *testing.T) {
	p := newProject(t, map[string]string{"a": strings.Repeat("line\n", 20)})
	p.Write("a", "first\n"+strings.Repeat("line\n", 20))
	p.Git("commit", "-qam", "one")
	p.iterate()
	p.Write("a", "first\n"+strings.Repeat("line\n", 20)+"last\n")
	p.Git("commit", "-qam", "two")
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
	_, err := PlanUndo(context.Background(), p.Dir, Request{Iterations: all[1:2], Last: all[1]})
	var conflict *ConflictError
	if !errors.As(err, &conflict) || !strings.Contains(conflict.Why, "changed no file") {
		t.Error(err)
	}
}

func TestUndo_reopensHalfAndFails_restoresBoxesAndFiles(t *testing.T) {
	p := newProject(t, map[string]string{"a": "1\n", "plan.md": "- [x] t\n"})
	p.Write("a", "2\n")
	p.iterate()
	p.Commit("work")
	all := p.list()
	was := p.files()
	u, err := PlanUndo(t.Context(), p.Dir, Request{
		Iterations: []Kept{all[len(all)-1]}, Last: all[len(all)-1], Plan: "plan.md", Journal: filepath.Join(t.TempDir(), "journal"),
		Reopen: func() error {
			p.Write("plan.md", "- [ ] t\n")
			return errors.New("the disk is full")
		},
		Restore: func() error {
			p.Write("plan.md", "- [x] t\n")
			return nil
		},
	})
	p.Do(err)
	if _, err = u.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(was, p.files()); diff != "" {
		t.Error(diff)
	}
}

func TestUndo_commitRefusesEachFile_isRecordedInTheWorkTree(t *testing.T) {
	key := "AKIA" + "Q3EGRT6ZTPV7WXN2"
	p := newProject(t, map[string]string{"a": "aws_access_key_id = " + key + "\n"})
	p.Write("a", "none\n")
	p.iterate()
	p.Commit("work")
	_, done := p.undo(1)
	if done.OID != "" || len(done.Refused) != 1 {
		t.Fatalf("committed %+v", done)
	}
	all := p.list()
	if last := all[len(all)-1]; !last.Undone {
		t.Errorf("the undo is not recorded: %+v", last)
	}
}
