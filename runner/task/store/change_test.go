package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph/runner/task"
)

// order returns the ids in the order in which the tasks come.
func order(t *testing.T, path string) string {
	t.Helper()
	list, err := Load(File{Path: path, OptionalSections: []string{"Optional"}})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(list.Tasks, func(a, b task.Task) int { return a.Priority - b.Priority })
	var ids []string
	for _, one := range list.Tasks {
		ids = append(ids, one.Title)
	}
	return strings.Join(ids, "|")
}

func TestAdd_everyFormat_isReadBack_andLeavesTheRest(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.field("error") != "" {
			continue
		}
		for name, variant := range variants() {
			t.Run(f.name()+"/"+name, func(t *testing.T) {
				dir := f.project(t, variant)
				path := f.plan(t, dir)
				before, err := Load(File{Path: path, OptionalSections: []string{"Optional"}})
				if err != nil {
					t.Fatal(err)
				}
				old := files(t, dir)
				added, err := Add(File{Path: path, OptionalSections: []string{"Optional"}}, `Say "hello" to all`)
				if err != nil {
					if !strings.Contains(err.Error(), "a file of its own") {
						t.Fatal(err)
					}
					return
				}
				after, err := Load(File{Path: path, OptionalSections: []string{"Optional"}})
				if err != nil || len(after.Tasks) != len(before.Tasks)+1 || added.State != task.Open || added.Optional ||
					!strings.HasSuffix(added.Title, `Say "hello" to all`) || len(after.Problems()) != len(before.Problems()) {
					t.Fatalf("%+v, %v, %q", added, err, after.Problems())
				}
				for file, text := range files(t, dir) {
					if text != old[file] {
						t.Logf("%s: %q", file, cutEnds(old[file], text)[1])
						if cut := cutEnds(old[file], text); cut[0] != "" || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") ||
							strings.Contains(old[file], "\r\n") && strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n") {
							t.Errorf("%s: %q became %q", file, cut[0], cut[1])
						}
					}
				}
			})
		}
	}
}

func TestMove_tasksComeInTheNewOrder(t *testing.T) {
	prd := "{\"userStories\": [\n  {\"id\": \"a\", \"priority\": 1, \"passes\": false},\n  {\"id\": \"b\", \"priority\": 2,\n   \"passes\": false}, {\"id\": \"c\", \"priority\": 3}\n]}\n"
	for _, c := range []struct {
		name, file, text, move string
		where                  Place
		other, want            string
	}{
		{"box to the top", "fix_plan.md", "# P\n- [ ] a\n- [ ] b\n  - x\n- [ ] c\n", "b", First, "", "b|a|c"},
		{"box to the end, no last newline", "fix_plan.md", "- [ ] a\r\n- [ ] b\r\n- [ ] c", "a", Last, "", "b|c|a"},
		{"the last box before another", "fix_plan.md", "- [ ] a\n- [ ] b\n- [ ] c", "c", Before, "b", "a|c|b"},
		{"box after another", "fix_plan.md", "- [ ] a\n- [ ] b\n- [ ] c\n", "a", After, "b", "b|a|c"},
		{"nested boxes go along", "fix_plan.md", "- [ ] a\n  - [x] d\n- [ ] b\n", "a", Last, "", "b|a|d"},
		{"to where it is", "fix_plan.md", "- [ ] a\n- [ ] b\n", "a", First, "", "a|b"},
		{"story first", "prd.json", prd, "c", First, "", "c|a|b"},
		{"story last", "prd.json", prd, "a", Last, "", "b|c|a"},
		{"story before", "prd.json", prd, "c", Before, "b", "a|c|b"},
		{"story after", "prd.json", prd, "a", After, "b", "b|a|c"},
		{"another level", "fix_plan.md", "- [ ] a\n  - [ ] d\n- [ ] b\n", "d", After, "b", "!not on the same level"},
		{"stories of files", "stories/1.1.story.md", "# A\n## Status\nReady\n", "A", First, "", "!the file names decide the order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			write(t, path, c.text)
			if strings.HasPrefix(c.file, "stories") {
				path = filepath.Dir(path)
			}
			other := task.Task{}
			if c.other != "" {
				other = find(t, path, c.other)
			}
			err := Move(File{Path: path}, find(t, path, c.move), c.where, other)
			if want, refused := strings.CutPrefix(c.want, "!"); refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				return
			}
			if got := order(t, path); err != nil || got != c.want {
				t.Errorf("%q, %v, want %q: %q", got, err, c.want, content(t, path))
			}
			if strings.Contains(c.text, "\r\n") && strings.Contains(strings.ReplaceAll(content(t, path), "\r\n", ""), "\n") {
				t.Errorf("%q", content(t, path))
			}
		})
	}
}

func TestRename_titleIsReplaced_andNothingElse(t *testing.T) {
	for file, c := range map[string]struct{ text, id, want string }{
		"fix_plan.md":           {"- [x] T1: old <!-- c -->\n- [ ]   b  \n", "b", "- [x] T1: old <!-- c -->\n- [ ]   new \"x\": y  \n"},
		"tasks.md":              {"- [ ] T001 a\n- [ ] T002 [P] old\n", "T002", "- [ ] T001 a\n- [ ] T002 new \"x\": y\n"},
		"plan.md":               {"- [x] T1: old\n", "T1", "- [x] T1: new \"x\": y\n"},
		"prd.json":              {`{"userStories": [{"title" : "old", "id": "a"}]}`, "a", `{"userStories": [{"title" : "new \"x\": y", "id": "a"}]}`},
		"docs/a.story.md":       {"# Story 1.1: Old\n## Status\nReady\n", "a", "# Story 1.1: new \"x\": y\n## Status\nReady\n"},
		"backlog/tasks/task.md": {"---\nid: t\ntitle: 'Old'\nstatus: Done\n---\n", "t", "---\nid: t\ntitle: \"new \\\"x\\\": y\"\nstatus: Done\n---\n"},
	} {
		t.Run(file, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, file)
			write(t, path, c.text)
			plan := path
			if strings.Contains(file, "/") {
				plan = filepath.Join(root, strings.Split(file, "/")[0])
			}
			now, err := Rename(File{Path: plan}, find(t, plan, c.id), `new "x": y`)
			if got := content(t, path); err != nil || got != c.want {
				t.Errorf("%+v, %v: %q, want %q", now, err, got, c.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	write(t, path, "- [ ] T1: a\n")
	if now, err := Rename(File{Path: path}, find(t, path, "T1"), "T2: b"); err != nil || now.ID != "T2" {
		t.Errorf("another number that is given: %+v, %v", now, err)
	}
	write(t, path, "- [ ] a <!-- why --> b\n")
	if _, err := Rename(File{Path: path}, find(t, path, "a b"), "c"); err == nil {
		t.Error("a comment would be lost")
	}
}

func TestReplace_textThatSomebodyElseChanged_isKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	write(t, path, "- [ ] T1: a\n  more\n- [ ] T2: b\n")
	one := find(t, path, "T1")
	old, err := Text(File{Path: path}, one)
	if err != nil || old != "- [ ] T1: a\n  more\n" {
		t.Fatalf("%q, %v", old, err)
	}
	if now, err := Replace(File{Path: path}, one, old, "- [ ] T1: better\n"); err != nil || now.Title != "T1: better" {
		t.Errorf("%+v, %v", now, err)
	}
	if _, err := Replace(File{Path: path}, one, old, "- [ ] T1: lost\n"); err == nil || content(t, path) != "- [ ] T1: better\n- [ ] T2: b\n" {
		t.Errorf("%v: %q", err, content(t, path))
	}
	if _, err := Replace(File{Path: path}, one, "- [ ] T1: better\n", "- [ ] a\n- [ ] b\n"); err == nil {
		t.Error("one task became two")
	}
}

// Four writers change the same plan at the same time: two tick, one adds, and one is an editor
// that knows nothing of ralph and writes only what it has read.
func TestUpdate_fourWriters_nothingIsLost(t *testing.T) {
	const edits = 200
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	var text strings.Builder
	for i := range edits / 2 {
		fmt.Fprintf(&text, "- [ ] T%d: part\n", i)
	}
	write(t, path, text.String())
	list, err := Load(File{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	run := func(n int, do func(i int) error) {
		wait.Go(func() {
			for i := range n {
				if err := do(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	quarter := edits / 4
	run(quarter, func(i int) error { return Set(File{Path: path}, list.Tasks[i], task.Done) })
	run(quarter, func(i int) error { return Set(File{Path: path}, list.Tasks[quarter+i], task.Done) })
	run(quarter, func(i int) error { _, err := Add(File{Path: path}, fmt.Sprintf("N%d: new", i)); return err })
	run(quarter, func(i int) error {
		return Move(File{Path: path}, list.Tasks[rand.IntN(len(list.Tasks))], []Place{First, Last}[i%2], task.Task{})
	})
	wait.Wait()
	after, err := Load(File{Path: path})
	if err != nil || len(after.Tasks) != len(list.Tasks)+quarter || after.Done() != 2*quarter {
		t.Errorf("%d tasks, %d done, %v", len(after.Tasks), after.Done(), err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUpdate_fileThatChangedMeanwhile_isReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	write(t, path, "- [ ] a\n- [ ] b\n")
	tries := 0
	err := update(File{Path: path}, func(p *plan) ([]edit, error) {
		if tries++; tries == 1 {
			write(t, path, "- [ ] new\n- [ ] a\n- [ ] b\n") // an editor that takes no lock
		}
		return p.stateEdits(find(t, path, "b"), task.Done, "")
	})
	if got := content(t, path); err != nil || tries != 2 || got != "- [ ] new\n- [ ] a\n- [x] b\n" {
		t.Errorf("%d tries, %v: %q", tries, err, got)
	}
}

func TestRename_everyTitle_isReadBack(t *testing.T) {
	for _, f := range fixtures(t) {
		if !strings.HasPrefix(f.name(), "backlog-realistic") && !strings.HasPrefix(f.name(), "aios-realistic") &&
			f.name() != "bmad4-realistic" && f.name() != "bmad6-realistic" && f.name() != "bmadspec-realistic" {
			continue
		}
		path := f.plan(t, f.project(t, same))
		for _, title := range []string{"Fix: the login", "it's late", `Say "hello"`, `a \ b`, "- no list", "true", "1.0", "null", "late # or not", "plain"} {
			list, err := Load(File{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if now, err := Rename(File{Path: path}, list.Tasks[0], title); err != nil || now.Title != title {
				t.Errorf("%s: %q is read back as %q, %v", f.name(), title, now.Title, err)
			}
		}
	}
}

func TestRename_quotesInTheOldTitle_areReplacedWithIt(t *testing.T) {
	for _, old := range []string{"'it''s late'", `"say \"hello\" to all"`, `'a "b"' # a comment`} {
		dir := filepath.Join(t.TempDir(), "backlog")
		if err := os.MkdirAll(filepath.Join(dir, "tasks"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "tasks", "task-1 - a.md"), "---\nid: task-1\ntitle: "+old+"\nstatus: To Do\n---\n")
		if now, err := Rename(File{Path: dir}, find(t, dir, "task-1"), "new"); err != nil || now.Title != "new" {
			t.Errorf("%s became %q, %v", old, now.Title, err)
		}
	}
}

func TestMove_lastLineWithoutAnEnd_staysWhereItIs(t *testing.T) {
	const text = "- [ ] a\n- [ ] b\n- [ ] c"
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	put(t, path, text)
	if err := Move(File{Path: path}, find(t, path, "c"), After, find(t, path, "b")); err != nil || content(t, path) != text {
		t.Errorf("%v: %q", err, content(t, path))
	}
	if err := Move(File{Path: path}, find(t, path, "b"), Before, find(t, path, "c")); err != nil || content(t, path) != text {
		t.Errorf("%v: %q", err, content(t, path))
	}
}

func TestAddAndSet_formatWithDates_writesThem(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".ralph/tasks.json")
	write(t, path, `{"tasks": [{"id": "1", "name": "a", "status": "pending", "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z"}]}`)
	f := At(dir, path, nil)
	added, err := Add(f, "b")
	if _, bad := time.Parse(time.RFC3339, added.Created); err != nil || bad != nil || added.Updated != added.Created {
		t.Errorf("%+v, %v", added, err)
	}
	one := Read(f).List.Tasks[0]
	if err := Set(f, one, task.Done); err != nil {
		t.Fatal(err)
	}
	if now := Read(f).List.Tasks[0]; now.Created != "2020-01-01T00:00:00Z" || now.Updated == now.Created || now.Wording() != one.Wording() {
		t.Errorf("%+v", now)
	}
	write(t, filepath.Join(dir, "backlog/tasks/a.md"), "---\nid: task-1\ntitle: a\nstatus: To Do\ncreated_date: '2020-01-01 10:00'\nupdated_date: '2020-01-01 10:00'\n---\n")
	f = At(dir, filepath.Join(dir, "backlog"), nil)
	if err := Set(f, Read(f).List.Tasks[0], task.Done); err != nil {
		t.Fatal(err)
	}
	if now := Read(f).List.Tasks[0]; !now.Done() || now.Created != "2020-01-01 10:00" || now.Updated == now.Created || len(now.Updated) != len(now.Created) {
		t.Errorf("%+v", now)
	}
}
