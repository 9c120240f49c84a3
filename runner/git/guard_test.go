package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (p project) refusals(files ...string) []Refusal {
	p.Helper()
	found, err := guard(context.Background(), p.Dir, files)
	p.Do(err)
	return found
}

func TestGuard_tree_isOneLineWithItsFiles(t *testing.T) {
	p := newProject(t)
	p.Write("go.mod", "module x\n")
	var files []string
	add := func(names ...string) {
		for _, n := range names {
			p.Write(n, "x")
			files = append(files, n)
		}
	}
	for i := range 60 {
		add(fmt.Sprintf("vendor/dep/f%d.go", i))
	}
	for i := range 30 {
		add(fmt.Sprintf("sub/third_party/dep/f%d.c", i))
	}
	p.Write("web/package.json", "{}")
	p.Write("c/build/CMakeCache.txt", "x")
	add("web/build/main.js", "c/build/x.o", ".terraform/providers/x", "web/coverage/lcov.info", "web/coverage/a/b.html", ".idea/workspace.xml", "py/__pycache__/a.pyc")
	add("coverage/coverage.go", "build/ci.sh", "other/third_party/one.c", "shop/vendor/models.py") // the project's own
	want := []Refusal{
		{File: "vendor/", Why: "60 files, a vendored tree"},
		{File: "sub/third_party/", Why: "30 files, a vendored tree"},
		{File: "web/build/", Why: "1 file, a built tree"},
		{File: "c/build/", Why: "1 file, a built tree"},
		{File: ".terraform/", Why: "1 file, an installed tree"},
		{File: "web/coverage/", Why: "2 files, a built tree"},
		{File: ".idea/", Why: "1 file, the settings of an editor"},
		{File: "py/__pycache__/", Why: "1 file, a built tree"},
	}
	if d := cmp.Diff(want, p.refusals(files...)); d != "" {
		t.Error(d)
	}
	c := p.commitFiles(files...)
	if d := cmp.Diff([]string{"coverage/coverage.go", "build/ci.sh", "other/third_party/one.c", "shop/vendor/models.py"}, c.Files); d != "" {
		t.Error(d)
	}
	// Once it is in the repository it is the project's own.
	p.Commit("all the rest")
	add("vendor/dep/new.go")
	if got := p.refusals("vendor/dep/new.go"); len(got) > 0 {
		t.Error(got)
	}
}

func TestGuard_linkOutOfTheRepository_isRefused(t *testing.T) {
	p := newProject(t)
	outside := t.TempDir()
	p.Do(os.Symlink(outside, p.Path("way-out")))
	p.Do(os.Mkdir(p.Path("sub/deep"), 0o755))
	refused := []string{"absolute", "up", "sub/deep/up", "missing", "over"}
	fine := []string{"beside", "sub/deep/inside", "own", "nowhere"}
	for name, target := range map[string]string{
		"absolute": outside, "up": "..", "sub/deep/up": "../../../x", "missing": "/no/such/file", "over": "way-out/x",
		"beside": "a.txt", "sub/deep/inside": "../../a.txt", "own": p.Path("a.txt"), "nowhere": "sub/gone",
	} {
		p.Do(os.Symlink(target, p.Path(name)))
	}
	p.Do(os.WriteFile(outside+"/x", nil, 0o600))
	var got []string
	for _, r := range p.refusals(slices.Concat(refused, fine)...) {
		got = append(got, r.File)
		if !strings.Contains(r.Why, "leads out of the repository") {
			t.Error(r)
		}
	}
	if d := cmp.Diff(refused, got); d != "" {
		t.Error(d)
	}
}

func TestChanges_fileThatChangedAgain_hasAnotherDigest(t *testing.T) {
	p := newProject(t) // b.txt is changed, dirty.txt untracked
	p.Write("staged.txt", "staged\n")
	p.Write("same.txt", "same\n")
	p.Write(".ralph/fix_plan.md", "- [ ] one\n")
	p.Write(".ralph/tasks.json", "{}\n")
	p.Git("add", "staged.txt")
	start := p.observe()
	p.Write("a.txt", "the agent's\n")
	for _, name := range []string{"b.txt", "dirty.txt", "staged.txt", ".ralph/fix_plan.md", ".ralph/tasks.json"} {
		p.Write(name, "changed further\n")
	}
	was, now := start.Changes(), p.observe().Changes()
	for _, name := range []string{".ralph/fix_plan.md", ".ralph/tasks.json", "b.txt", "dirty.txt", "staged.txt", "same.txt"} {
		if same := was[name] == now[name]; same != (name == "same.txt") || was[name] == "" || now[name] == "" {
			t.Errorf("%s: %q, then %q", name, was[name], now[name])
		}
	}
	p.Commit("the agent's own")
	if got := p.observe().Changes(); len(got) > 0 {
		t.Errorf("committed: %q", got)
	}
}
