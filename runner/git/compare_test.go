package git

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCompare_whatAnIterationDid(t *testing.T) {
	const odd = "sub/ü a\"b\nc\t日本.txt"
	for _, c := range []struct {
		name string
		do   func(p project)
		head bool
		want []string
	}{
		{"nothing", func(p project) {}, false, nil},
		{"new file", func(p project) { p.Write("new.txt", "") }, false, []string{"new.txt"}},
		{"new files in a new folder", func(p project) { p.Write("n/1", ""); p.Write("n/2", "") }, false, []string{"n/1", "n/2"}},
		{"changed file", func(p project) { p.Write("a.txt", "x") }, false, []string{"a.txt"}},
		{"deleted file", func(p project) { p.Do(os.Remove(p.Path("a.txt"))) }, false, []string{"a.txt"}},
		{"odd name", func(p project) { p.Write(odd, "") }, false, []string{odd}},
		{"name that looks like a record", func(p project) { p.Write("1 .M N... x", ""); p.Write("# branch.oid 1", "") }, false, []string{"# branch.oid 1", "1 .M N... x"}},
		{"dirty file changed again, same size", func(p project) { p.Write("dirty.txt", "DIRTY\n") }, false, []string{"dirty.txt"}},
		{"dirty file written with the same content", func(p project) { p.Write("dirty.txt", "dirty\n"); p.Write("b.txt", "b changed\n") }, false, nil},
		{"dirty file touched", func(p project) {
			p.Do(os.Chtimes(p.Path("dirty.txt"), time.Now(), time.Now().Add(time.Hour)))
			p.Do(os.Chtimes(p.Path("a.txt"), time.Now(), time.Now().Add(time.Hour)))
		}, false, nil},
		{"dirty file made executable", func(p project) { p.Do(os.Chmod(p.Path("dirty.txt"), 0o755)) }, false, []string{"dirty.txt"}},
		{"dirty file removed", func(p project) { p.Do(os.Remove(p.Path("dirty.txt"))) }, false, []string{"dirty.txt"}},
		{"dirty file reverted", func(p project) { p.Write("b.txt", "b\n") }, false, []string{"b.txt"}},
		{"staged only", func(p project) { p.Git("add", "-A") }, false, nil},
		{"renamed with git", func(p project) { p.Git("mv", "sub/c.txt", "sub/d e.txt") }, false, []string{"sub/c.txt", "sub/d e.txt"}},
		{"renamed without git", func(p project) { p.Do(os.Rename(p.Path("a.txt"), p.Path("z.txt"))) }, false, []string{"a.txt", "z.txt"}},
		{"committed", func(p project) { p.Write("n", ""); p.Commit("second") }, true, nil},
		{"committed and changed more", func(p project) { p.Commit("second"); p.Write("a.txt", "x") }, true, []string{"a.txt"}},
		{"empty commit", func(p project) { p.Git("commit", "-q", "--allow-empty", "-m", "x") }, true, nil},
		{"other branch, same commit", func(p project) { p.Git("checkout", "-q", "-b", "other") }, false, nil},
		{"symlink", func(p project) { p.Do(os.Symlink("a.txt", p.Path("l"))) }, false, []string{"l"}},
		{"dangling symlink", func(p project) { p.Do(os.Symlink("nowhere", p.Path("l"))) }, false, []string{"l"}},
		{"file became a pipe", func(p project) {
			p.Do(os.Remove(p.Path("a.txt")))
			p.Do(syscall.Mkfifo(p.Path("a.txt"), 0o644))
		}, false, []string{"a.txt"}},
		{"file became a folder", func(p project) { p.Do(os.Remove(p.Path("a.txt"))); p.Write("a.txt/x", "") }, false, []string{"a.txt", "a.txt/x"}},
		{"state of ralph", func(p project) { p.Write(".ralph/status.json", "1"); p.Write("sub/.ralph/x/y", "1") }, false, nil},
		{"names that only begin like it", func(p project) { p.Write(".ralphrc", "1"); p.Write(".ralph2/x", "1") }, false, []string{".ralph2/x", ".ralphrc"}},
		{"ignored file", func(p project) {
			p.Write(".git/info/exclude", "*.log\n")
			p.Write("x.log", "1")
		}, false, nil},
		{"repository removed", func(p project) { p.Do(os.RemoveAll(p.Path(".git"))) }, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			before := p.observe()
			c.do(p)
			got := before.Compare(p.observe())
			if d := cmp.Diff(Change{HeadMoved: c.head, Files: c.want, Count: len(c.want)}, got); d != "" {
				t.Error(d)
			}
			if got.Progress() != (c.head || c.want != nil) {
				t.Errorf("progress %v", got.Progress())
			}
		})
	}
}

func TestCompare_changesWithinWhatIsNewAlready(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second func(p project)
		want          []string
	}{
		{
			"symlink with another target",
			func(p project) { p.Do(os.Symlink("a.txt", p.Path("l"))) },
			func(p project) { p.Do(os.Remove(p.Path("l"))); p.Do(os.Symlink("b.txt", p.Path("l"))) }, []string{"l"},
		},
		{
			"target of a symlink",
			func(p project) { p.Do(os.Symlink("dirty.txt", p.Path("l"))) },
			func(p project) { p.Write("dirty.txt", "x") }, []string{"dirty.txt"},
		},
		{
			"large file, by size and time",
			func(p project) { p.Write("big", strings.Repeat("x", maxHashed+1)) },
			func(p project) { p.Write("big", strings.Repeat("x", maxHashed+2)) }, []string{"big"},
		},
		{
			"largest hashed file, content only",
			func(p project) { p.Write("big", strings.Repeat("x", maxHashed)) },
			func(p project) {
				info, err := os.Stat(p.Path("big"))
				p.Do(err)
				p.Write("big", strings.Repeat("x", maxHashed-1)+"y")
				p.Do(os.Chtimes(p.Path("big"), info.ModTime(), info.ModTime()))
			}, []string{"big"},
		},
		{
			"untracked repository",
			func(p project) {
				p.Write("nested/x", "1")
				p.Git("init", "-q", "nested")
				p.Git("-C", "nested", "add", "-A")
			},
			func(p project) { p.Write("nested/y", "2") }, []string{"nested/"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			c.first(p)
			before := p.observe()
			if again := before.Compare(p.observe()); again.Progress() {
				t.Errorf("changed by itself: %+v", again)
			}
			c.second(p)
			if d := cmp.Diff(c.want, before.Compare(p.observe()).Files); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCompare_submoduleChanges(t *testing.T) {
	lib, p := newProject(t), newProject(t)
	p.Git("submodule", "--quiet", "add", lib.Dir, "lib")
	p.Commit("with a submodule")
	clean := p.observe()
	p.Write("lib/a.txt", "x")
	changed := p.observe()
	if d := cmp.Diff([]string{"lib"}, clean.Compare(changed).Files); d != "" {
		t.Error(d)
	}
	p.Write("lib/a.txt", "longer")
	again := p.observe()
	if d := cmp.Diff([]string{"lib"}, changed.Compare(again).Files); d != "" {
		t.Error(d)
	}
	p.In(p.Path("lib")).Commit("in the submodule")
	if d := cmp.Diff([]string{"lib"}, again.Compare(p.observe()).Files); d != "" {
		t.Error(d)
	}
	inside, err := Observe(context.Background(), p.Path("lib"))
	if err != nil || !inside.Repo || inside.Branch == "" || len(inside.files) != 0 {
		t.Errorf("observed inside: %+v, %v", inside, err)
	}
}

func TestCompare_mergeConflictIsAChange(t *testing.T) {
	p := newProject(t)
	p.conflict("merge", "other")
	snap := p.observe()
	if _, ok := snap.files["a.txt"]; !ok {
		t.Errorf("unmerged file is missing in %v", snap.files)
	}
	p.Write("a.txt", "resolved\n")
	if d := cmp.Diff([]string{"a.txt"}, snap.Compare(p.observe()).Files); d != "" {
		t.Error(d)
	}
}

func TestCompare_keepsTheFirstThousandNames(t *testing.T) {
	before, after := Snapshot{Repo: true}, Snapshot{Repo: true, files: map[string]signature{}}
	for i := range maxFiles + 5 {
		after.files[fmt.Sprintf("%05d", i)] = signature{mode: 1}
	}
	c := before.Compare(after)
	if c.Count != maxFiles+5 || len(c.Files) != maxFiles || c.Files[0] != "00000" || !slices.IsSorted(c.Files) {
		t.Errorf("count %d, %d files from %q", c.Count, len(c.Files), c.Files[0])
	}
}

func TestCompare_ofTooMany_oldFilesAndTheirNewPlacesStay(t *testing.T) {
	before, after := newSnapshot(true), newSnapshot(true)
	add := func(path string, isNew bool) {
		after.files[path] = signature{mode: 1}
		after.untracked[path] = isNew
	}
	for i := range maxFiles + 5 {
		add(fmt.Sprintf("a/%05d", i), true)
		add(fmt.Sprintf("node_modules/%05d", i), true)
	}
	want := []string{"tests/x_test.go", "z/x_test.go", "zz.go"}
	add("tests/x_test.go", false)
	add("z/x_test.go", true)
	add("zz.go", false)
	c := before.Compare(after)
	var got []string
	for _, f := range c.Files {
		if !strings.HasPrefix(f, "a/") {
			got = append(got, f)
		}
	}
	if d := cmp.Diff(want, got); d != "" || len(c.Files) != maxFiles || c.Count != 2*maxFiles+13 {
		t.Errorf("%d of %d files: %s", len(c.Files), c.Count, d)
	}
}

func TestCommitted_newCommits_areCountedWithTheRest(t *testing.T) {
	p := newProject(t)
	before := p.observe()
	p.Write("a.txt", "a changed\n")
	p.Write("sub/new file.txt", "n\n")
	p.Write(".ralph/fix_plan.md", "- [x] a\n")
	p.Commit("second")
	p.Write("later.txt", "l\n")
	after := p.observe()
	got, err := before.Compare(after).Committed(t.Context(), p.Dir, before, after)
	p.Do(err)
	want := Change{HeadMoved: true, Files: []string{"a.txt", "b.txt", "dirty.txt", "later.txt", "sub/new file.txt"}, Count: 5}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCommitted_headStayed_runsNoGit(t *testing.T) {
	p := newProject(t)
	before := p.observe()
	p.Write("a.txt", "a changed\n")
	after := p.observe()
	t.Setenv("PATH", "")
	got, err := before.Compare(after).Committed(t.Context(), p.Dir, before, after)
	p.Do(err)
	if got.Count != 1 || got.HeadMoved {
		t.Errorf("Committed() = %+v", got)
	}
}

func TestChange_throughJSON_staysTheSame(t *testing.T) {
	for _, c := range []Change{{}, {HeadMoved: true}, {HeadMoved: true, Files: []string{"a b.txt", "sub/\u00fc\n"}, Count: 1200}} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Change
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c, back); d != "" {
			t.Errorf("%s (-before +after):\n%s", data, d)
		}
	}
}
