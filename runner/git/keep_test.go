package git

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
)

func (p project) keeper() *Keeper {
	p.Helper()
	k, ok := NewKeeper(p.Dir)
	if !ok {
		p.Fatal("no repository")
	}
	return k
}

func (p project) keep(k *Keeper, s State) string {
	p.Helper()
	oid, err := k.Keep(context.Background(), p.observe(), s)
	p.Do(err)
	return oid
}

// kept reads what a state says of itself.
func (p project) kept(ref string) State {
	p.Helper()
	_, data, _ := strings.Cut(p.Git("log", "-1", "--format=%B", ref), KeptTrailer)
	var s State
	p.Do(json.Unmarshal([]byte(data), &s))
	return s
}

func TestKeep_state_isHeadWithAllChangesAndNothingElseMoves(t *testing.T) {
	p := newProject(t)
	p.Write(".gitignore", "*.log\n")
	p.Write(".ralph/.gitignore", "*\n!.gitignore\n!fix_plan.md\n")
	p.Write(".ralph/fix_plan.md", "- [x] a\n")
	p.Write(".ralph/status.json", "{}")
	p.Commit("all")
	p.Write("b.txt", "b again\n")
	p.Write("debug.log", "ignored\n")
	p.Write("tool \"x\"\n.sh", "#!/bin/sh\n")
	p.Do(os.Chmod(p.Path("tool \"x\"\n.sh"), 0o755))
	p.Do(os.Symlink("b.txt", p.Path("link")))
	p.Do(os.Remove(p.Path("sub/c.txt")))
	p.Write("sub/c.txt/inner", "a folder where a file was\n")
	p.Write(".ralph/fix_plan.md", "- [ ] a\n")
	p.Write("staged.txt", "staged\n")
	p.Git("add", "staged.txt")
	status := p.Git("status", "--porcelain")

	k := p.keeper()
	oid := p.keep(k, State{Run: "r1", Iteration: 1, Outcome: "completed-turn", Task: "T1 \"Login\"", CostUSD: 0.25, Checks: map[string]bool{"test": true}, Files: 3})
	p.wantOut(status, "status", "--porcelain")
	p.wantOut(oid, "rev-parse", "refs/ralph/r1/1")
	p.wantOut(p.Git("rev-parse", "HEAD"), "rev-parse", oid+"^")
	var tree []string
	for record := range strings.SplitSeq(strings.TrimSuffix(p.Git("ls-tree", "-r", "-z", oid), "\x00"), "\x00") {
		facts, path, _ := strings.Cut(record, "\t")
		tree = append(tree, facts[:6]+" "+path)
	}
	if d := cmp.Diff([]string{"100644 .gitignore", "100644 .ralph/.gitignore", "100644 .ralph/fix_plan.md", "100644 a.txt", "100644 b.txt", "100644 dirty.txt",
		"120000 link", "100644 staged.txt", "100644 sub/c.txt/inner", "100755 tool \"x\"\n.sh"}, tree); d != "" {
		t.Error(d)
	}
	p.wantOut("b again", "show", oid+":b.txt")
	p.wantOut("b.txt", "show", oid+":link")
	p.wantOut("- [ ] a", "show", oid+":.ralph/fix_plan.md")

	// Nothing changed: the same tree, known objects only.
	again := p.keep(k, State{Run: "r1", Iteration: 2, Base: oid})
	p.wantOut(p.Git("rev-parse", oid+"^{tree}"), "rev-parse", again+"^{tree}")
	if got := p.kept(again).Base; got != oid {
		t.Errorf("base %q, want %q", got, oid)
	}
	want := State{Run: "r1", Iteration: 1, Outcome: "completed-turn", Task: "T1 \"Login\"", CostUSD: 0.25, Checks: map[string]bool{"test": true}, Files: 3}
	got := p.kept(oid)
	if since := time.Since(time.Unix(0, got.At)); since < 0 || since > world.Patience {
		t.Errorf("kept at %d", got.At)
	}
	got.At = 0
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestKeep_goneObjectsAndCommittedFiles_areHandled(t *testing.T) {
	p := newProject(t)
	k := p.keeper()
	p.keep(k, State{Run: "r", Iteration: 1})
	p.Git("update-ref", "-d", "refs/ralph/r/1")
	p.Git("gc", "-q", "--prune=now")
	oid := p.keep(k, State{Run: "r", Iteration: 1})
	p.wantOut("b changed", "show", oid+":b.txt")
	p.Commit("the agent's")
	oid = p.keep(k, State{Run: "r", Iteration: 1})
	p.wantOut(p.Git("rev-parse", "HEAD^{tree}"), "rev-parse", oid+"^{tree}")
	p.wantOut("1", "rev-list", "--count", "HEAD.."+oid)
}

func TestKeep_convertedFiles_areStoredAsGitDoes(t *testing.T) {
	for name, set := range map[string]func(p project){
		"none":       func(p project) {},
		"attributes": func(p project) { p.Write(".gitattributes", "* text eol=crlf\n"); p.Commit("attributes") },
		"dirty":      func(p project) { p.Write("x/.gitattributes", "* text eol=crlf\n") },
		"autocrlf":   func(p project) { p.Git("config", "core.autocrlf", "true") },
		"sha256": func(p project) {
			p.Do(os.RemoveAll(p.Path(".git")))
			p.Git("init", "-q", "--object-format=sha256")
			p.Commit("all")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			set(p)
			k := p.keeper()
			for i := range 2 {
				p.Write(fmt.Sprintf("x/%d.txt", i), "one\r\ntwo\r\n")
				p.Write("b.txt", fmt.Sprintf("b %d\r\n", i))
				oid := p.keep(k, State{Run: "r", Iteration: i + 1})
				t.Setenv("GIT_INDEX_FILE", p.Path(".git/other-index"))
				p.Git("read-tree", "HEAD")
				p.Git("add", "-A")
				p.wantOut(p.Git("write-tree"), "rev-parse", oid+"^{tree}")
				p.Do(os.Unsetenv("GIT_INDEX_FILE"))
			}
		})
	}
}

func TestKeep_unbornRepository_hasNoParent(t *testing.T) {
	p := newFolder(t)
	p.Git("init", "-q")
	p.Write("a.txt", "a\n")
	p.keep(p.keeper(), State{Run: "r", Iteration: 1, Start: true})
	p.wantOut("a.txt", "ls-tree", "--name-only", "refs/ralph/r/1-start")
	p.wantOut("refs/ralph/r/1-start ", "for-each-ref", "--format=%(refname) %(parent)", "refs/ralph")
}

func TestKeep_fileTooLarge_isLeftOutAndCounted(t *testing.T) {
	p := newProject(t)
	p.Write("huge.bin", "")
	p.Do(os.Truncate(p.Path("huge.bin"), maxKeptFile+1))
	oid := p.keep(p.keeper(), State{Run: "r", Iteration: 1})
	p.wantOut("a.txt\nb.txt\ndirty.txt\nsub", "ls-tree", "--name-only", oid)
	if s := p.kept(oid); s.LeftOut != 1 {
		t.Errorf("%+v", s)
	}
}

// Only what has changed since the latest state counts against the bounds, and it comes before what was left out.
func TestKeep_moreThanOneStateTakes_changesAreKeptFirst(t *testing.T) {
	p := newProject(t)
	fits := maxKeptBytes / maxKeptFile
	write := func(dir string, n, size int) {
		for i := range n {
			name := fmt.Sprintf("%s/%d.bin", dir, i)
			p.Write(name, "")
			p.Do(os.Truncate(p.Path(name), int64(size)))
		}
	}
	k := p.keeper()
	keep := func(iteration, leftOut int) (oid string) {
		t.Helper()
		oid = p.keep(k, State{Run: "r", Iteration: iteration})
		if s := p.kept(oid); s.LeftOut != leftOut {
			t.Errorf("iteration %d: %d left out, want %d", iteration, s.LeftOut, leftOut)
		}
		return oid
	}
	write("a", fits+3, maxKeptFile-1001)
	keep(1, 3)
	write("z", fits, maxKeptFile-1000)
	p.wantOut(fmt.Sprint(maxKeptFile-1000), "cat-file", "-s", keep(2, 3)+fmt.Sprintf(":z/%d.bin", fits-1))
	p.wantOut(fmt.Sprint(maxKeptFile-1001), "cat-file", "-s", keep(3, 0)+fmt.Sprintf(":a/%d.bin", fits+2))
}

func TestKeep_invalidRunName_isRefused(t *testing.T) {
	p := newProject(t)
	for _, run := range []string{"", "a/b", "a b", "..", "x\n"} {
		if _, err := p.keeper().Keep(context.Background(), p.observe(), State{Run: run, Iteration: 1}); err == nil {
			t.Errorf("run %q is taken", run)
		}
	}
}

func TestTexts_beforeAndAfter_fromHeadTheSnapshotAndTheDisk(t *testing.T) {
	p := newProject(t) // b.txt is changed, dirty.txt untracked
	p.Write("bin", "\x00\x01")
	p.Write("committed.txt", "one\n")
	p.Write(".ralph/config.yaml", "checks: []\n")
	p.Commit("all")
	p.Write("b.txt", "b dirty\n")
	before := p.observe()
	p.Write("a.txt", "a now\n")
	p.Write("b.txt", "b now\n")
	p.Write("new.txt", "new\n")
	p.Write("bin", "\x00\x02")
	p.Do(os.Remove(p.Path("dirty.txt")))
	p.Write(".ralph/config.yaml", "checks: [x]\n")
	p.Write(".ralph/status.json", "{}")
	p.Write("committed.txt", "two\n")
	p.Git("add", "committed.txt")
	p.Git("commit", "-q", "-m", "the agent's", "committed.txt")
	after := p.observe()
	change, err := before.Compare(after).Committed(context.Background(), p.Dir, before, after)
	p.Do(err)
	texts, err := change.Texts(context.Background(), p.Dir, before, after)
	p.Do(err)
	want := []Text{
		{Path: ".ralph/config.yaml", Before: "checks: []\n", After: "checks: [x]\n", Existed: true, Exists: true},
		{Path: "a.txt", Before: "a\n", After: "a now\n", Existed: true, Exists: true},
		{Path: "b.txt", Before: "b dirty\n", After: "b now\n", Existed: true, Exists: true},
		{Path: "committed.txt", Before: "one\n", After: "two\n", Existed: true, Exists: true},
		{Path: "dirty.txt", Before: "dirty\n", Existed: true},
		{Path: "new.txt", After: "new\n", Exists: true},
	}
	if d := cmp.Diff(want, texts); d != "" {
		t.Error(d)
	}
}

func TestTree_workspace_isWrittenWithoutARef(t *testing.T) {
	p := newProject(t) // b.txt is changed, dirty.txt untracked
	p.Do(os.Remove(p.Path("a.txt")))
	p.Write("large", strings.Repeat("x", maxKeptFile+1))
	p.Git("init", "-q", "nested")
	p.Write("nested/file", "")
	refs, status := p.Git("for-each-ref"), p.Git("status", "--porcelain")
	tree, err := p.observe().Tree(context.Background())
	p.Do(err)
	if got := p.Git("ls-tree", "-r", "--name-only", tree); strings.Contains(got, "a.txt") || !strings.Contains(got, "dirty.txt") || strings.Contains(got, "large") {
		t.Errorf("%q", got)
	}
	if got := p.Git("show", tree+":b.txt"); got != strings.TrimSpace(p.Read("b.txt")) {
		t.Errorf("%q", got)
	}
	if now := p.Git("for-each-ref"); now != refs || p.Git("status", "--porcelain") != status {
		t.Errorf("refs %q, before %q", now, refs)
	}
}

func TestPack_keptStatesAndStash_arePackedAndStay(t *testing.T) {
	p := newProject(t)
	p.Git("stash", "-q")
	k, want := p.keeper(), map[string]string{}
	for i := range 3 {
		p.Write("a.txt", fmt.Sprintf("a %d\n", i))
		s := State{Run: "run", Iteration: i + 1}
		want[s.Ref()] = p.keep(k, s)
	}
	refs := p.Git("for-each-ref")
	Pack(t.Context(), p.Dir)
	p.wantOut(refs, "for-each-ref")
	p.wantOut("0 objects, 0 kilobytes", "count-objects")
	if _, err := os.Lstat(p.Path(".git/refs/ralph/run/1")); err == nil {
		t.Error("the ref is a file still")
	}
	for ref, oid := range want {
		p.wantOut(oid, "rev-parse", ref)
	}
	p.wantOut("b changed", "cat-file", "-p", "stash@{0}:b.txt")
}
