package slots

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/task"
	"ralph/runner/task/store"
)

func TestMain(m *testing.M) { os.Exit(world.GitMain(m)) }

var one = task.Task{ID: "T1", Title: "one"}

// project is a repository with a plan, and the home of its worktrees.
func project(t *testing.T) (world.Folder, *Home) {
	t.Helper()
	p := world.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "shop")}
	p.Write("code", "1\n")
	p.Write("plan.md", "- [ ] T1 one\n")
	p.Write(".gitignore", "node_modules/\n.env\n")
	p.Git("init", "-q")
	p.Commit("first")
	h, err := HomeOf([]string{"XDG_CACHE_HOME=" + t.TempDir()}, p.Dir, store.File{Path: p.Path("plan.md"), Name: "plan.md"})
	p.Do(err)
	return p, h
}

func begin(p world.Folder, h *Home, n int) (*Slot, Begun, world.Folder) {
	p.Helper()
	tip := p.Git("rev-parse", "HEAD")
	s, err := h.Open(context.Background(), n)
	p.Do(err)
	b, err := s.Begin(context.Background(), one, tip)
	p.Do(err)
	return s, b, p.In(s.Dir)
}

func TestSave_workOfATurn_isOneCommitWithoutThePlan(t *testing.T) {
	p, h := project(t)
	p.Write("plan.md", "- [ ] T1 one, changed by the user\n")
	p.Write("draft", "the user's")
	s, b, in := begin(p, h, 1)
	if got := in.Read("plan.md"); !strings.Contains(got, "changed by the user") || in.Read("draft") != "" {
		t.Errorf("the slot has the plan %q and the draft %q", got, in.Read("draft"))
	}
	in.Write("code", "2\n")
	in.Commit("change the code\n\nIt was one.")
	in.Write("new", "x\n")
	in.Write("plan.md", "- [x] T1 one\n")
	w, err := s.Save(context.Background(), "[ralph] one\n\nRalph-Task: T1\n")
	p.Do(err)
	if d := cmp.Diff("code\nnew", p.Git("diff", "--name-only", b.Base, w.Commit)); d != "" {
		t.Errorf("changed files: %s", d)
	}
	if got := p.Git("log", "-1", "--format=%B", w.Commit); got != "change the code\n\nIt was one.\n\nRalph-Task: T1" {
		t.Errorf("message %q", got)
	}
	if got := p.Git("rev-parse", w.Commit+"^", Ref(w.Key)); got != b.Base+"\n"+w.Commit {
		t.Errorf("parent and ref: %s", got)
	}
	if got := p.Git("status", "--porcelain"); got != " M plan.md\n?? draft" {
		t.Errorf("the user's checkout: %q", got)
	}
}

func TestSave_onlyThePlanWasTicked_isNoWork(t *testing.T) {
	p, h := project(t)
	s, _, in := begin(p, h, 1)
	in.Write("plan.md", "- [x] T1 one\n")
	in.Commit("done")
	w, err := s.Save(context.Background(), "m\n\nRalph-Task: T1\n")
	p.Do(err)
	if kept := s.Saved(context.Background(), h.Key(one)); w.Commit != "" || kept != "" {
		t.Errorf("%+v", w)
	}
}

func TestBegin_unfinishedWork_goesOnOnTopOfWhatHasLanded(t *testing.T) {
	for name, theirs := range map[string]string{"beside": "other", "conflict": "code"} {
		t.Run(name, func(t *testing.T) {
			p, h := project(t)
			s, _, in := begin(p, h, 1)
			in.Write("code", "mine\n")
			_, err := s.Save(context.Background(), "m\n\nRalph-Task: T1\n")
			p.Do(err)
			p.Write(theirs, "theirs\n")
			p.Git("add", theirs)
			p.Git("commit", "-qm", "landed meanwhile")
			_, b, in := begin(p, h, 2)
			code := in.Read("code")
			if theirs == "other" && (len(b.Conflict) > 0 || code != "mine\n" || in.Read("other") != "theirs\n") {
				t.Errorf("%+v, %q", b, code)
			}
			if theirs == "code" && (len(b.Conflict) != 1 || !strings.Contains(code, "<<<<<<<") || !strings.Contains(code, "mine") || !strings.Contains(code, "theirs")) {
				t.Errorf("%+v, %q", b, code)
			}
			if got := in.Git("status", "--porcelain", "--", "code"); got != "" {
				t.Errorf("it is the user's change: %q", got)
			}
		})
	}
}

func TestOpen_afterAKill_keepsTheWorkAndRemovesLocks(t *testing.T) {
	p, h := project(t)
	_, _, in := begin(p, h, 1)
	in.Write("code", "half\n")
	in.Write("new", "x\n")
	lock := strings.TrimSpace(in.Git("rev-parse", "--absolute-git-dir")) + "/index.lock"
	p.Do(os.WriteFile(lock, nil, 0o600))
	s, err := h.Open(context.Background(), 1)
	p.Do(err)
	p.Do(s.Salvage(context.Background()))
	if got := p.Git("diff", "--name-only", "HEAD", Ref(h.Key(one))); got != "code\nnew" {
		t.Errorf("kept: %q", got)
	}
	p.Do(s.Salvage(context.Background())) // once
	_, _, in = begin(p, h, 2)
	if in.Read("code") != "half\n" || in.Read("new") != "x\n" {
		t.Error("the next turn does not go on with it")
	}
}

func TestRecall_landedBeforeThePlanSaidSo_namesTheTask(t *testing.T) {
	p, h := project(t)
	s, _, in := begin(p, h, 1)
	in.Write("code", "2\n")
	w, err := s.Save(context.Background(), "[ralph] one\n\nRalph-Run: 2026.1\nRalph-Iteration: 3\nRalph-Task: T1\n")
	p.Do(err)
	for i, want := range []map[string]string{{}, {w.Key: "T1"}} {
		got, err := h.Recall(context.Background(), p.Git("rev-parse", "HEAD"))
		p.Do(err)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d: %s", i, d)
		}
		p.Git("merge", "-q", "--ff-only", w.Commit)
	}
}

func TestBegin_includedFiles_areCopied_andIgnoredOnesStay(t *testing.T) {
	p, h := project(t)
	p.Write(Include, ".env\n/data/*.csv\n")
	p.Write(".env", "A=1")
	p.Write("data/a.csv", "1")
	p.Write("data/b.txt", "1")
	p.Write(".ralph/specs/b.md", "1")
	p.Do(os.Symlink("b.txt", p.Path("data/link.csv")))
	p.Do(os.Symlink("b.md", p.Path(".ralph/specs/a.md")))
	_, _, in := begin(p, h, 1)
	in.Write("node_modules/x", "installed")
	in.Write("scratch", "of the turn before")
	s, _, in := begin(p, h, 1)
	if d := cmp.Diff([]string{".ralph/specs/a.md", "data/link.csv"}, s.LeftOut()); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]string{".env": "A=1", "data/a.csv": "1", "data/b.txt": "", "data/link.csv": "", "node_modules/x": "installed", "scratch": ""} {
		if got := in.Read(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestNeedsSetup_onceAndAgainForManifests(t *testing.T) {
	p, h := project(t)
	p.Write("web/package.json", "{}")
	p.Commit("manifest")
	s, _, _ := begin(p, h, 1)
	try := func(line string, want bool) {
		t.Helper()
		setup := s.Setup(line)
		needed, stamp, err := setup.needed(context.Background())
		p.Do(err)
		if needed != want {
			t.Errorf("%q: needed %v", line, needed)
		}
		if needed {
			p.Do(os.WriteFile(setup.Done, []byte(stamp), 0o600))
		}
	}
	try("", false)
	try("npm ci", true)
	try("npm ci", false)
	p.Write("code", "3")
	p.Commit("code")
	begin(p, h, 1)
	try("npm ci", false)
	p.Write("web/package.json", `{"a":1}`)
	p.Commit("manifest")
	begin(p, h, 1)
	try("npm ci", true)
	try("npm install", true)
}

func TestSave_workInASubmodule_isNamed(t *testing.T) {
	for name, work := range map[string]string{
		"committed":                      "cd lib && echo 2 > f && git commit -qam two && cd .. && git add lib && git commit -qm bump",
		"committed, the bump is missing": "cd lib && echo 2 > f && git commit -qam two",
		"not committed":                  "echo 2 > lib/f",
		"a new file":                     "echo 2 > lib/g",
		"none, but work beside it":       "echo 2 > code",
	} {
		t.Run(name, func(t *testing.T) {
			p, h := project(t)
			lib := world.Folder{TB: t, Dir: t.TempDir()}
			lib.Git("init", "-q")
			lib.Write("f", "1\n")
			lib.Commit("first")
			p.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "lib")
			p.Commit("with a submodule")
			s, _, in := begin(p, h, 1)
			in.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			in.Run("sh", "-c", work)
			w, err := s.Save(context.Background(), "m\n\nRalph-Task: T1\n")
			p.Do(err)
			want := []string{"lib"}
			if strings.HasPrefix(name, "none") {
				want = nil
			}
			if d := cmp.Diff(want, w.Submodules); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCheckAndOpen_badRepositories_areRefusedInOneLine(t *testing.T) {
	p, h := project(t)
	p.Do(os.MkdirAll(filepath.Join(h.Dir, "1", "shop", "x"), 0o700))
	if _, err := h.Open(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "where slot 1 belongs") {
		t.Errorf("a folder in the way: %v", err)
	}
	for n, path := range map[int]string{2: h.Dir + "/2", 3: h.Dir + "/3/" + filepath.Base(p.Dir)} {
		p.Do(os.MkdirAll(filepath.Dir(path), 0o700))
		p.Do(os.WriteFile(path, []byte("mine"), 0o600))
		if _, err := h.Open(context.Background(), n); !errors.As(err, new(*UnfitError)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a file in the way: %v", err)
		}
	}
	p.Git("update-index", "--add", "--cacheinfo", "160000,"+p.Git("rev-parse", "HEAD")+",lib")
	if err := h.Check(context.Background(), ""); err == nil || !strings.Contains(err.Error(), `submodule "lib"`) {
		t.Errorf("a submodule: %v", err)
	}
	p.Do(h.Check(context.Background(), "git submodule update --init"))
	p.Git("config", "core.worktree", p.Dir) // as in a submodule
	p.Do(h.Check(context.Background(), "x"))
	p.Git("config", "extensions.worktreeConfig", "true")
	said := h.Check(context.Background(), "x")
	if said == nil {
		t.Fatal("core.worktree is that of all worktrees, and Check says nothing")
	}
	_, advice, _ := strings.Cut(said.Error(), "move it with: ")
	p.Run("sh", "-c", advice)
	p.Do(h.Check(context.Background(), "x"))
	if s, err := h.Open(context.Background(), 4); err != nil || p.In(s.Root).Git("rev-parse", "--show-toplevel") != s.Root {
		t.Errorf("after the advice, the worktree is not one to git: %v", err)
	}
	p.Git("branch", "ralph") // then there can be no branch ralph/RUN
	if err := h.Check(context.Background(), "x"); err == nil || !strings.Contains(err.Error(), "git branch -m ralph NAME") {
		t.Errorf("a branch in the way: %v", err)
	}
	p.Git("branch", "-D", "ralph")
	empty := world.Folder{TB: t, Dir: t.TempDir()}
	env := []string{"HOME=" + t.TempDir()}
	if _, err := HomeOf(env, empty.Dir, store.File{}); err == nil || !strings.Contains(err.Error(), "git init") {
		t.Errorf("no repository: %v", err)
	}
	empty.Git("init", "-q")
	h, err := HomeOf(env, empty.Dir, store.File{})
	p.Do(err)
	if err := h.Check(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "first commit") {
		t.Errorf("no commit: %v", err)
	}
}
