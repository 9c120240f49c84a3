package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/runner/task"
)

// tick is what an agent does with its task.
func tick(path string, t task.Task) error { return Set(File{Path: path}, t, task.Done) }

func untick(path string, t task.Task) error { return Set(File{Path: path}, t, task.Open) }

func TestTick_changesOneByteOfABox(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fix_plan.md")
	const before = "\xef\xbb\xbf# Plan\r\n\r\n```\r\n- [ ] two\r\n```\r\n- [ ] one\r\n  - [ ]  two <!-- x -->  \r\n* [X] three"
	write(t, path, before)
	for _, step := range []struct {
		title string
		mark  func(string, task.Task) error
		want  string
	}{
		{"two", tick, strings.Replace(before, "- [ ]  two", "- [x]  two", 1)},
		{"two", tick, strings.Replace(before, "- [ ]  two", "- [x]  two", 1)}, // already
		{"two", untick, before},
		{"three", untick, strings.Replace(before, "[X]", "[ ]", 1)},
	} {
		if err := step.mark(path, find(t, path, step.title)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(step.want, content(t, path)); d != "" {
			t.Errorf("%s: %s", step.title, d)
		}
	}
}

func TestTick_changesOnlyPassesOfAStory(t *testing.T) {
	crlf := strings.ReplaceAll(strings.TrimSuffix(shop, "\n"), "\n", "\r\n")
	for _, c := range []struct{ name, in, id, old, new string }{
		{"false to true", shop, "US-001", `"Cart", "priority": 3, "passes": false`, `"Cart", "priority": 3, "passes": true`},
		{"nested key of that name stays", shop, "US-002", `2, "passes": false`, `2, "passes": true`},
		{"CRLF, no last newline", crlf, "US-002", `2, "passes": false`, `2, "passes": true`},
		{"escaped key, odd spacing", `{"userStories":[{"id":"a","pass\u0065s" :false ,"z":1}]}`, "a", "false", "true"},
		{"key given twice", `{"userStories":[{"id":"a","passes":true,"passes":false}]}`, "a", `"passes":false`, `"passes":true`},
		{"inserted in a line", `{"userStories": [{"id": "a", "title": "b"}]}`, "a", `"b"}`, `"b", "passes": true}`},
		{"inserted, compact", `{"userStories":[{"id":"a"}]}`, "a", `"a"}`, `"a","passes":true}`},
		{"inserted on its own line", "{\"userStories\": [\r\n\t{\r\n\t\t\"id\": \"a\",\r\n\t\t\"k\": [1, 2]\r\n\t}\r\n]}", "a", "2]\r\n", "2],\r\n\t\t\"passes\": true\r\n"},
		{"inserted with a leading comma", "{\"userStories\": [{\n  \"id\": \"a\"\n  , \"k\": 1\n}]}", "a", "1\n", "1, \"passes\": true\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prd.json")
			write(t, path, c.in)
			story := find(t, path, c.id)
			if err := tick(path, story); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(c.in, c.old, c.new, 1)
			if d := cmp.Diff(want, content(t, path)); d != "" || want == c.in {
				t.Fatal(d)
			}
			if !find(t, path, c.id).Done() {
				t.Error("is not done")
			}
		})
	}
}

func TestUntick_makesAStoryFail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prd.json")
	write(t, path, shop)
	if err := Set(File{Path: path}, find(t, path, "7"), task.Open); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(shop, `"passes": true`, `"passes": false`, 1); content(t, path) != want {
		t.Error(content(t, path))
	}
}

func TestTick_findsATaskThatMoved(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"lines above", "- [ ] a\n- [ ] b\n", "# New\n- [ ] c\n- [ ] a\n- [ ] b\n", "# New\n- [ ] c\n- [x] a\n- [ ] b\n"},
		{"another took its line", "- [ ] a\n- [ ] b\n", "- [ ] b\n- [ ] a\n", "- [ ] b\n- [x] a\n"},
		{"same text in another section", "# A\n- [ ] a\n# B\n- [ ] a\n", "# B\n- [ ] a\n# A\n- [ ] a\n", "# B\n- [ ] a\n# A\n- [x] a\n"},
		{"same text, same line", "- [ ] a\n- [ ] a\n", "- [ ] a\n- [ ] a\n", "- [x] a\n- [ ] a\n"},
		{"text changed, number kept", "- [ ] T1: a\n", "- [ ] T2: a\n- [ ] T1: better a\n", "- [ ] T2: a\n- [x] T1: better a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "fix_plan.md")
			write(t, path, c.before)
			l, err := Load(File{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, c.after)
			if err := tick(path, l.Tasks[0]); err != nil {
				t.Fatal(err)
			}
			if got := content(t, path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTick_refusesWhatItCannotIdentify(t *testing.T) {
	for _, c := range []struct{ name, file, before, after, want string }{
		{"gone", "p.md", "- [ ] a\n", "- [ ] b\n", "no longer in the plan"},
		{"now in a fence", "p.md", "- [ ] a\n", "```\n- [ ] a\n```\n", "no longer in the plan"},
		{"ambiguous", "p.md", "- [ ] a\n", "# x\n\n# \n- [ ] a\n- [ ] a\n", "several tasks have this text (lines 4, 5)"},
		{"story gone", "p.json", `{"userStories":[{"id":"a"}]}`, `{"userStories":[{"id":"b"}]}`, "no longer in the plan"},
		{"broken meanwhile", "p.json", `{"userStories":[{"id":"a"}]}`, `{"userStories":[{"id":"a"}`, "unexpected end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			write(t, path, c.before)
			l, err := Load(File{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, c.after)
			if err := tick(path, l.Tasks[0]); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if content(t, path) != c.after {
				t.Error("the file changed")
			}
		})
	}
	if err := tick(filepath.Join(t.TempDir(), "none.md"), task.Task{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestTick_keepsTheModeAndWritesThroughNoLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real", "plan.md"), filepath.Join(dir, "fix_plan.md")
	write(t, path, "- [ ] a\n")
	if err := errors.Join(os.Chmod(path, 0o640), os.Symlink("real/plan.md", link), os.Symlink("real", filepath.Join(dir, "docs"))); err != nil {
		t.Fatal(err)
	}
	a := find(t, path, "a")
	for _, name := range []string{"fix_plan.md", "docs/plan.md"} {
		err := Set(At(dir, filepath.Join(dir, name), nil), a, task.Done)
		if err == nil || !strings.Contains(err.Error(), "is a symbolic link; ralph uses only a") || content(t, path) != "- [ ] a\n" {
			t.Errorf("%s: %v, %q", name, err, content(t, path))
		}
	}
	if err := tick(path, a); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o640 || content(t, path) != "- [x] a\n" {
		t.Errorf("%v, %v, %q", info, err, content(t, path))
	}
	if names, err := filepath.Glob(filepath.Join(dir, "real", "*")); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v %v", names, err)
	}
}

// checkEdits ticks each open task of data and unticks each done one: exactly
// one place may change, and then exactly that task's state.
func checkEdits(t interface{ Fatalf(string, ...any) }, name string, data []byte) {
	p := plan{files: []planFile{{path: name, data: data}}}
	if err := p.parse(name, nil); err != nil {
		return
	}
	if len(p.Spots) != len(p.Tasks) {
		t.Fatalf("%d spots for %d tasks", len(p.Spots), len(p.Tasks))
	}
	for i, one := range p.Tasks {
		to := task.Done
		if one.Done() {
			to = task.Open
		}
		edits, err := p.stateEdits(one, to, "")
		if err != nil || len(edits) != 1 {
			t.Fatalf("edit %+v: %v, %v", one, edits, err)
		}
		edited := p.apply(edits)[0]
		start, tail := p.files[0].bom+edits[0].Start, len(data)-p.files[0].bom-edits[0].End
		if string(edited[:start]) != string(data[:start]) || string(edited[len(edited)-tail:]) != string(data[len(data)-tail:]) {
			t.Fatalf("%q became %q", data, edited)
		}
		after, err := Parse(name, edited, nil)
		if err != nil {
			t.Fatalf("%q: %v", edited, err)
		}
		want := append([]task.Task(nil), p.Tasks...)
		want[i].State, want[i].Word = to, ""
		if d := cmp.Diff(want, after.Tasks); d != "" {
			t.Fatalf("%q became %q: %s", data, edited, d)
		}
	}
}

func TestTick_changesOneTaskOfAnyPlan(t *testing.T) {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "```", "~~~", "<!--", "-->", "# Future", "text", "---", "  more", "\t- plain"}),
		rapid.Custom(func(r *rapid.T) string {
			return fmt.Sprintf("%s%s [%s] %s",
				strings.Repeat(" ", rapid.IntRange(0, 8).Draw(r, "indent")),
				rapid.SampledFrom([]string{"-", "*", "+", "1.", "2)"}).Draw(r, "marker"),
				rapid.SampledFrom([]string{" ", "x", "X", "-"}).Draw(r, "state"),
				rapid.SampledFrom([]string{"a", "T1: b", "ü <!-- c -->", "`<!--`"}).Draw(r, "title"))
		}))
	rapid.Check(t, func(r *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "end")
		text := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(r, "lines"), end)
		checkEdits(r, "p.md", []byte(text))
	})
}

func FuzzCheckbox(f *testing.F) {
	for _, s := range []string{"- [ ] a\n- [x] b", "```\n- [ ] a\n```\n1) [X] T1: c\n", "<!--\n-->- [ ] a", "- ~~~\n - [ ] a\n~~~", "A\n---\n\t- [ ] `<!--` b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkEdits(t, "p.md", data) })
}

func FuzzPRD(f *testing.F) {
	for _, s := range []string{shop, `{"userStories":[{"id":"a"}]}`, `{"userStories":[{"passes":false,"id":1,"passes":true}],"name":{}}`, `{"userStories":[{"id":"\ud800"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkEdits(t, "p.json", data) })
}

// find returns the task with this title or id.
func find(t *testing.T, path, name string) task.Task {
	t.Helper()
	l, err := Load(File{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range l.Tasks {
		if one.Title == name || one.ID == name {
			return one
		}
	}
	t.Fatalf("no task %q in %+v", name, l.Tasks)
	return task.Task{}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRestore_putsBackTheBoxAsItWas(t *testing.T) {
	for _, box := range []string{"[ ]", "[]", "[  ]", "[~]", "[ - ]"} {
		path := filepath.Join(t.TempDir(), "openspec/changes/a/tasks.md")
		before := "- [x] 1.1 a\n- " + box + " 1.2 b\n"
		write(t, path, before)
		was := find(t, path, "1.2")
		if err := Set(File{Path: path}, was, task.Done); err != nil || !find(t, path, "1.2").Done() {
			t.Fatal(err)
		}
		if err := Restore(File{Path: path}, find(t, path, "1.2"), was); err != nil || content(t, path) != before {
			t.Errorf("%v: %q, want %q", err, content(t, path), before)
		}
	}
}
