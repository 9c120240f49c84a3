package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestObserve_subfolderSeesTheWholeRepository(t *testing.T) {
	p := newProject(t)
	before, err := Observe(context.Background(), p.Path("sub"))
	p.Do(err)
	p.Write("a.txt", "x")
	after, err := Observe(context.Background(), p.Path("sub"))
	p.Do(err)
	if d := cmp.Diff([]string{"a.txt"}, before.Compare(after).Files); d != "" {
		t.Error(d)
	}
	if c := after.Compare(p.observe()); c.Progress() {
		t.Errorf("the root sees something else: %+v", c)
	}
}

func TestObserve_changesNothingAndReadsHead(t *testing.T) {
	p := newProject(t)
	p.Do(os.Chtimes(p.Path("a.txt"), time.Now(), time.Now().Add(time.Hour))) // the index is stale
	p.Write(".git/index.lock", "")                                           // somebody else holds the lock
	index, err := os.ReadFile(p.Path(".git/index"))
	p.Do(err)
	s := p.observe()
	after, err := os.ReadFile(p.Path(".git/index"))
	p.Do(err)
	if string(index) != string(after) {
		t.Error("the index changed")
	}
	head := p.Git("rev-parse", "HEAD")
	if !s.Repo || s.Head != head || s.Branch != "main" {
		t.Errorf("%+v, head %s", s, head)
	}
}

func TestObserve_ignoresGitVariablesOfAHook(t *testing.T) {
	p, other := newProject(t), newProject(t)
	want := p.observe()
	t.Setenv("GIT_DIR", other.Path(".git"))
	t.Setenv("GIT_WORK_TREE", other.Dir)
	t.Setenv("GIT_INDEX_FILE", other.Path("nothing"))
	if got := p.observe(); got.Head != want.Head || want.Compare(got).Progress() {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestObserve_withoutARepositoryWalks(t *testing.T) {
	p := newFolder(t)
	p.Write("a.txt", "a")
	p.Write("node_modules/x", "x")
	p.Write(".git/empty", "no repository")
	before := p.observe()
	if before.Repo {
		t.Fatal("is not a repository")
	}
	p.Write("node_modules/x", "changed")
	p.Write(".ralph/status.json", "{}")
	if c := before.Compare(p.observe()); c.Progress() {
		t.Errorf("%+v", c)
	}
	p.Write("sub/b.txt", "b")
	p.Write("a.txt", "longer")
	if d := cmp.Diff([]string{"a.txt", "sub/b.txt"}, before.Compare(p.observe()).Files); d != "" {
		t.Error(d)
	}
	p.Do(os.RemoveAll(p.Path(".git")))
	p.Git("init", "-q")
	if c := before.Compare(p.observe()); !c.HeadMoved {
		t.Error("git init is not a change")
	}
}

func TestWalk_isBounded(t *testing.T) {
	p := newFolder(t)
	for i := range 12 {
		p.Write(fmt.Sprintf("%d/%d", i%3, i), "")
	}
	for limit, want := range map[int]int{5: 5, 12: 12, 13: 12} {
		if s, err := ObserveFolder(context.Background(), p.Dir, limit); err != nil || len(s.files) != want {
			t.Errorf("limit %d: %d files, %v", limit, len(s.files), err)
		}
	}
}

func TestObserve_withoutGitWalks(t *testing.T) {
	p := newProject(t)
	t.Setenv("PATH", t.TempDir())
	if s := p.observe(); s.Repo || len(s.files) != 4 {
		t.Errorf("%+v", s)
	}
	c, err := Inspect(context.Background(), p.Dir)
	if root, _ := filepath.EvalSymlinks(p.Dir); err != nil || c != (Condition{Root: root}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestObserve_brokenRepositoryIsAnError(t *testing.T) {
	p := newProject(t)
	p.Write(".git/index", "garbage")
	if _, err := Observe(context.Background(), p.Dir); err == nil || !strings.Contains(err.Error(), "index file") {
		t.Errorf("observe: %v", err)
	}
	if c, err := Inspect(context.Background(), p.Dir); err == nil || c.GitVersion == "" || c.Root == "" {
		t.Errorf("inspect: %+v, %v", c, err)
	}
	if _, err := Observe(context.Background(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing folder is not an error")
	}
}

func TestObserve_endsWithItsContext(t *testing.T) {
	for _, dir := range []string{newProject(t).Dir, func() string { p := newFolder(t); p.Write("a", ""); return p.Dir }()} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Observe(ctx, dir); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("# branch.oid (initial)\x00# branch.head main\x002 R. N... 1 2 3 a b R100 new\x00old\x00? x\x00")
	f.Add("u UU N... 1 2 3 4 a b c a.txt\x001 .M S..U 1 2 3 a b lib\x002 x")
	f.Fuzz(func(t *testing.T, out string) {
		_, entries, err := parseStatus(out)
		if err == nil && len(entries) > strings.Count(out, "\x00")+1 {
			t.Errorf("%d entries", len(entries))
		}
	})
}
