package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/runner/task"
)

var defaults = []string{"Optional", "Future", "Future Enhancements", "Nice to Have"}

// boxes shows a list as one word for each task: "+title" done, "-title" open,
// with "?" before the optional ones and ">" for each level of depth.
func shown(l task.List) string {
	var out []string
	for _, t := range l.Tasks {
		s := strings.Repeat(">", t.Depth)
		if t.Optional {
			s += "?"
		}
		if t.Done() {
			s += "+"
		} else {
			s += "-"
		}
		out = append(out, s+t.Title)
	}
	return strings.Join(out, " ")
}

func TestParse_checkboxPlans(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty file", "", ""},
		{"no list", "# Plan\n\nNothing here.\n", ""},
		{"all markers", "- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n12) [x] e\n", "-a +b +c -d +e"},
		{"last line without newline", "- [ ] a", "-a"},
		{"any indent, tabs too", "- [ ] a\n    - [x] b\n\t\t- [ ] c\n       * [ ] d\n", "-a >+b >>-c >>-d"},
		{"deep indent without a parent", "text\n\n        - [ ] a\n", "-a"},
		{"CRLF", "- [ ] a\r\n- [x] b\r\n", "-a +b"},
		{"byte order mark", "\xef\xbb\xbf- [ ] a\n", "-a"},
		{"several blanks around the box", "-   [ ]   a\t\n", "-a"},
		{"box without a blank after it", "- [ ]a\n- [x]b\n", "-a +b"},
		{"not a box", "- [2026-01-29] x\n- [#12] x\n- [link](url)\n- [x](url)\n- [ ](url)\n- [x][ref]\n- [x]: url\n", ""},
		{"other brackets are not boxes", "- [] a\n- [  ] d\n- [\t] e\n- [xx] f\n- [~](b)\n- [-]: c\n", ""},
		{"a mark that nobody knows is that of a task", "- [-] a\n- [~] b\n", "-a -b"},
		{"a box that says nothing", "- [ ]\n- [ ] \n- [x]\t\n", ""},
		{"no list item", "[ ] a\n| [ ] | b |\n> - [ ] c\n-[ ] d\nsee `- [ ] e`\n", ""},
		{"box in a code span", "- `[ ]` means open\n", ""},
		{"box after two markers", "- - [ ] a\n1. * [x] b\n", "-a +b"},

		{"fence of backticks", "```\n- [ ] no\n```\n- [ ] a\n", "-a"},
		{"fence of tildes with a language", "~~~md\n- [ ] no\n```\n- [ ] no\n~~~\n- [ ] a\n", "-a"},
		{"long fence holds a short one", "````\n```\n- [ ] no\n```\n- [ ] no\n````\n- [ ] a\n", "-a"},
		{"longer closing fence", "```\n- [ ] no\n`````\n- [ ] a\n", "-a"},
		{"text after the closing fence", "```\n- [ ] no\n``` no\n- [ ] no\n```\n- [ ] a\n", "-a"},
		{"inline code is not a fence", "```x``` y\n- [ ] a\n```\n", "-a"},
		{"fence in a list item", "- [ ] a\n  ```\n  - [ ] no\n  ```\n- [ ] b\n", "-a -b"},
		{"fence in a deep list item", "1. x\n   - [ ] a\n\n     ~~~\n     - [ ] no\n     ~~~\n     - [ ] b\n", "-a >-b"},
		{"fence in a list item, with tabs", "- [ ] a\n\t```\n\t- [ ] no\n\t```\n\t- [ ] b\n", "-a >-b"},
		{"fence on the line of the marker", "- ```\n  - [ ] no\n  ```\n- [ ] a\n", "-a"},
		{"fence in a list item, closed at the margin", "- [ ] a\n  ```\n  - [ ] no\n```\n- [ ] b\n", "-a -b"},
		{"fence that ends with its list item", "- [ ] a\n  ```\n  - [ ] no\n- [ ] b\n\n```\ncode\n```\n", "-a -b"},
		{"fence that is never closed hides nothing", "```\n- [ ] a\n", "-a"},
		{"fence closed only by a shorter one", "````\n- [ ] a\n```\n- [ ] b\n", "-a -b"},
		{"CRLF fence", "```\r\n- [ ] no\r\n```\r\n- [ ] a\r\n", "-a"},

		{"comment in one line", "<!-- - [ ] no -->\n- [ ] a\n", "-a"},
		{"comment over lines", "<!--\n- [ ] no\n\n- [x] no\n-->\n- [ ] a\n", "-a"},
		{"comment begun in a line", "- [ ] a <!-- why\n- [ ] no\n-->\n- [ ] b\n", "-a -b"},
		{"box after the end of a comment", "<!-- x\n--> - [ ] a\n", "-a"},
		{"comment in the text", "- [ ] a <!-- b --> c\n", "-a c"},
		{"two comments in a line", "- [ ] a <!-- b --> c <!-- d -->\n", "-a c"},
		{"fence in a comment", "<!--\n```\n-->\n- [ ] a\n", "-a"},
		{"comment in a fence", "```\n<!--\n```\n- [ ] a\n<!-- b -->\n", "-a"},
		{"comment that is never closed hides nothing", "<!-- x\n- [ ] a\n", "-a"},
		{"comment mark in a code span", "- [ ] parse `<!--`\n- [ ] b\n<!-- c -->\n", "-parse `<!--` -b"},
		{"comment mark in the text", "- [ ] parse <!-- too\n- [ ] b\n<!-- c -->\n", "-parse <!-- too -b"},

		{"optional section", "- [ ] a\n## optional\n- [ ] b\n- [x] c\n## Next\n- [ ] d\n", "-a ?-b ?+c -d"},
		{"deeper headings stay optional", "## Future\n### Core\n- [ ] a\n## Core\n- [ ] b\n", "?-a -b"},
		{"higher heading ends it", "### Future\n- [ ] a\n# Core\n- [ ] b\n", "?-a -b"},
		{"optional section after another", "## Future\n- [ ] a\n## Nice to have:\n- [ ] b\n", "?-a ?-b"},
		{"decorated heading", "## **Nice  to Have** ##\n- [ ] a\n", "?-a"},
		{"only the whole text counts", "## Optional flags\n- [ ] a\n", "-a"},
		{"rule after a list is not a heading", "- [ ] Optional\n---\n- [ ] b\n", "-Optional -b"},
		{"heading in a fence", "```\n## Future\n```\n- [ ] a\n", "-a"},
		{"no heading without a blank", "#Future\n- [ ] a\n", "-a"},
		{"heading without text", "## Future\n- [ ] a\n##\n- [ ] b\n", "?-a -b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Parse("fix_plan.md", []byte(c.in), defaults)
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(l); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParse_checkboxDetails(t *testing.T) {
	const plan = `# App

Intro text.

## Core **work**

- [ ] **US-001**: Log in
  With a password.

  Twice.
  - must lock after 3 tries
    (for an hour)
  * must log
  - [x] a child
    of its own
  again the parent
- plain
  - [X] [T3] Log out

Text.
- [ ] Log in
- [ ] Log in
`
	l, err := Parse("x.md", []byte(plan), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []task.Task{
		{
			ID: "US-001", Title: "**US-001**: Log in", Description: "With a password.\nTwice.\nagain the parent",
			Criteria: []string{"must lock after 3 tries\n(for an hour)", "must log"}, Section: "Core **work**", Line: 7,
		},
		{ID: task.Hash("a child"), Title: "a child", Description: "of its own", State: task.Done, Section: "Core **work**", Line: 14, Depth: 1},
		{ID: "T3", Title: "[T3] Log out", State: task.Done, Section: "Core **work**", Line: 18},
		{ID: task.Hash("Log in"), Title: "Log in", Section: "Core **work**", Line: 21},
		{ID: task.Hash("Log in") + "-2", Title: "Log in", Section: "Core **work**", Line: 22},
	}
	if d := cmp.Diff(want, l.Tasks); d != "" {
		t.Error(d)
	}
}

func TestParse_memoryGrowsWithThePlanOnly(t *testing.T) {
	const size, limit = 1 << 18, 3000 // bytes allocated for each byte of the plan; copying all of it for each line makes 30,000
	for name, unit := range map[string]string{
		"boxes": "- [ ] some task\n", "nested": "- ", "comments": "<!-- x -->", "open comments": "a <!-- b\n", "fences": "```a\n",
		"indented fences": "- ```a\n", "done": "  - [x] a\n", "description": " x\n", "criteria": " - x\n  y\n",
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte("- [ ] a\n" + strings.Repeat(unit, size/len(unit)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Parse("x.md", data, defaults); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) / size; used > limit {
				t.Errorf("%d bytes for each byte", used)
			} else {
				t.Logf("%d bytes for each byte", used)
			}
		})
	}
}

func TestParse_idsSurviveReordering(t *testing.T) {
	ids := func(plan string) map[string]string {
		l, err := Parse("x.md", []byte(plan), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]string{}
		for _, one := range l.Tasks {
			m[one.Title] = one.ID
		}
		return m
	}
	a, b := ids("- [ ] one\n- [ ] T2: two\n- [x] three\n"), ids("# x\n* [x] three\n\n* [ ] one\n* [x] T2: two\n")
	if d := cmp.Diff(a, b); d != "" || len(a) != 3 {
		t.Errorf("%v: %s", a, d)
	}
}

func TestNext_firstOpenLeaf(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"file order", "- [x] a\n- [ ] b\n- [ ] c\n", "b"},
		{"open child first", "- [ ] a\n  - [x] b\n  - [ ] c\n", "c"},
		{"grandchild below a done child", "- [ ] a\n  - [x] b\n    - [ ] c\n", "c"},
		{"parent when its children are done", "- [ ] a\n  - [x] b\n- [ ] c\n", "a"},
		{"optional ones are never next", "## Future\n- [ ] a\n## Now\n- [ ] b\n", "b"},
		{"nothing open", "- [x] a\n## Future\n- [ ] b\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Parse("x.md", []byte(c.in), defaults)
			if err != nil {
				t.Fatal(err)
			}
			next, ok := l.Next()
			if next.Title != c.want || ok != (c.want != "") {
				t.Errorf("got %q %v, want %q", next.Title, ok, c.want)
			}
		})
	}
}

func TestList_countsLeaveOutOptionalTasks(t *testing.T) {
	l, err := Parse("x.md", []byte("- [x] a\n- [ ] b\n# Future\n- [ ] c\n- [x] d\n"), defaults)
	if err != nil {
		t.Fatal(err)
	}
	if l.Done() != 1 || l.Remaining() != 1 || l.Total() != 2 {
		t.Errorf("done %d, remaining %d, total %d", l.Done(), l.Remaining(), l.Total())
	}
}

func TestFind_firstOfTheKnownPlaces(t *testing.T) {
	dir := t.TempDir()
	if p, ok := Find(dir, nil); ok {
		t.Errorf("found %q in an empty folder", p)
	}
	// From the last place to the first: each new file wins.
	for _, name := range []string{".ralph/prd.json", "prd.json", "@fix_plan.md", "fix_plan.md", ".ralph/fix_plan.md"} {
		path := filepath.Join(dir, name)
		write(t, path, "- [ ] a\n")
		if got, ok := Find(dir, nil); !ok || got != path {
			t.Errorf("got %q %v, want %q", got, ok, path)
		}
	}
}

func TestLoad_unusableFilesSayWhy(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.md")
	write(t, big, "- [ ] a\n")
	if err := os.Truncate(big, MaxSize+1); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "bin.md"), "- [ ] a\x00\n")
	write(t, filepath.Join(dir, "plan.yaml"), "- [ ] a\n")
	write(t, filepath.Join(dir, "NOTES"), "words\n")
	for name, want := range map[string]string{
		"missing.md": "no such file", "big.md": "larger than 16 MiB", "bin.md": "NUL byte", ".": "has no plan in a format that ralph knows",
		"plan.yaml": "prd.json (*.json), checkbox (*.md", "NOTES": "unknown format",
	} {
		if _, err := Load(File{Path: filepath.Join(dir, name)}); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestLoad_contentTellsTheFormatOfABareName(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "TODO"), "Plan\n- [ ] a\n")
	write(t, filepath.Join(dir, "stories.txt"), ` {"userStories": []}`)
	write(t, filepath.Join(dir, "PLAN.MD"), "nothing\n")
	for name, want := range map[string]string{"TODO": "checkbox", "stories.txt": "prd.json", "PLAN.MD": "checkbox"} {
		path := filepath.Join(dir, name)
		if l, err := Load(File{Path: path}); err != nil || l.Format != want || l.Path != path {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
