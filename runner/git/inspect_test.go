package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInspect_conditions(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p project)
		want Condition
	}{
		{"branch", func(p project) {}, Condition{Branch: "main"}},
		{"detached", func(p project) { p.Git("checkout", "-q", "--detach") }, Condition{}},
		{"merge", func(p project) { p.conflict("merge", "other") }, Condition{Branch: "main", Operation: "merge"}},
		{"rebase", func(p project) { p.conflict("rebase", "other") }, Condition{Operation: "rebase"}},
		{"rebase with apply", func(p project) { p.conflict("rebase", "--apply", "other") }, Condition{Operation: "rebase"}},
		{"cherry-pick", func(p project) { p.conflict("cherry-pick", "other") }, Condition{Branch: "main", Operation: "cherry-pick"}},
		{"cherry-pick of several, between two", func(p project) {
			p.conflict("cherry-pick", "other", "main~1")
			p.Write("a.txt", "x")
			p.Commit("resolved")
		}, Condition{Branch: "main", Operation: "cherry-pick"}},
		{"revert", func(p project) { p.conflict("revert", "--no-edit", "other") }, Condition{Branch: "main", Operation: "revert"}},
		{"bisect", func(p project) { p.Git("bisect", "start") }, Condition{Branch: "main", Operation: "bisect"}},
		{"unborn", func(p project) { p.Git("checkout", "-q", "--orphan", "fresh") }, Condition{Branch: "fresh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			c.do(p)
			got, err := Inspect(context.Background(), p.Path("sub"))
			if err != nil {
				t.Fatal(err)
			}
			root, err := filepath.EvalSymlinks(p.Dir)
			p.Do(err)
			if !strings.Contains(got.GitVersion, ".") {
				t.Errorf("version %q", got.GitVersion)
			}
			c.want.Repo, c.want.Root, got.GitVersion = true, root, ""
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestInspect_linkedWorkTree(t *testing.T) {
	p := newProject(t)
	p.Commit("all")
	tree := project{p.In(filepath.Join(t.TempDir(), "tree"))}
	p.Git("worktree", "add", "-q", "-b", "side", tree.Dir)
	tree.conflict("rebase", "other")
	c, err := Inspect(context.Background(), tree.Dir)
	if err != nil || !c.Repo || c.Operation != "rebase" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Inspect(context.Background(), p.Dir); err != nil || c.Operation != "" {
		t.Errorf("main tree: %+v, %v", c, err)
	}
}

func TestInspect_noRepository(t *testing.T) {
	c, err := Inspect(context.Background(), t.TempDir())
	if err != nil || c.Repo || c.Root != "" || c.GitVersion == "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRoot_followsLinksAndPassesEmptyFolders(t *testing.T) {
	p := newProject(t)
	want, err := filepath.EvalSymlinks(p.Dir)
	p.Do(err)
	p.Do(os.MkdirAll(p.Path("sub/.git"), 0o755))
	link := filepath.Join(t.TempDir(), "link")
	p.Do(os.Symlink(p.Path("sub"), link))
	for _, dir := range []string{p.Dir, p.Path("sub"), link} {
		if got, ok := Root(dir); !ok || got != want {
			t.Errorf("Root(%q) = %q %v, want %q", dir, got, ok, want)
		}
	}
	for _, dir := range []string{t.TempDir(), p.Path("missing")} {
		if got, ok := Root(dir); ok {
			t.Errorf("Root(%q) = %q", dir, got)
		}
	}
}
