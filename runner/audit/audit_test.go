package audit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"ralph/runner/audit/lang"
)

// A case of the corpus is a txtar file: the files below before/ and after/, the
// plans plan.before and plan.after, the id of the selected task, and in want
// one finding a line, "kind file" or "kind task"; "*" is any, no want is none.
type sample struct {
	Input
	want    []string
	comment string
}

func readSample(t *testing.T, path string) sample {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := sample{comment: strings.TrimSpace(string(archive.Comment))}
	files := map[string]*File{}
	file := func(path string) *File {
		if files[path] == nil {
			files[path] = &File{Path: path}
		}
		return files[path]
	}
	for _, f := range archive.Files {
		text := string(f.Data)
		before, isBefore := strings.CutPrefix(f.Name, "before/")
		after, isAfter := strings.CutPrefix(f.Name, "after/")
		switch {
		case isBefore:
			file(before).Before, file(before).Existed = text, true
		case isAfter:
			file(after).After, file(after).Exists = text, true
		case strings.HasPrefix(f.Name, "both/"): // for the reader: only what changed is compared
		case f.Name == "plan.before":
			s.PlanBefore = readPlan(text)
		case f.Name == "plan.after":
			s.PlanAfter = readPlan(text)
		case f.Name == "task":
			s.Task = strings.TrimSpace(text)
		case f.Name == "want":
			s.want = strings.Split(strings.TrimSpace(text), "\n")
		default:
			t.Fatalf("%s: unknown part %q", path, f.Name)
		}
	}
	for _, f := range files {
		s.Files = append(s.Files, *f)
	}
	s.Unchanged = len(files) == 0
	return s
}

// readPlan reads boxes, nested by two spaces, and plain items as criteria. The
// id is a leading T1, else the text.
func readPlan(text string) []Task {
	var tasks []Task
	for line := range strings.Lines(text) {
		item := strings.TrimSpace(line)
		if !strings.HasPrefix(item[1:], " [") {
			last := &tasks[len(tasks)-1]
			last.Criteria = append(last.Criteria, strings.TrimLeft(item, "-* "))
			continue
		}
		title := item[len("- [ ] "):]
		id, _, _ := strings.Cut(strings.Trim(title, "*"), " ")
		if !strings.HasPrefix(id, "T") || strings.Trim(id[1:], "0123456789.") != "" {
			id = title
		}
		tasks = append(tasks, Task{ID: id, Title: title, Done: item[3] == 'x', Depth: lang.Indent(line) / 2})
	}
	return tasks
}

func brief(found []Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, fmt.Sprintf("%s %s", f.Kind, f.File+f.Task))
	}
	return all
}

func TestCompare_corpus(t *testing.T) {
	rate := func(kind string, good func(s sample, got []string) bool) (hits, all int) {
		paths, err := filepath.Glob("testdata/" + kind + "/*.txtar")
		if err != nil || len(paths) < 25 {
			t.Fatalf("%d samples in %s (%v)", len(paths), kind, err)
		}
		for _, path := range paths {
			t.Run(strings.TrimSuffix(filepath.ToSlash(path[len("testdata/"):]), ".txtar"), func(t *testing.T) {
				s := readSample(t, path)
				found := Compare(s.Input)
				if good(s, brief(found)) {
					hits++
					return
				}
				t.Error(cmp.Diff(s.want, brief(found)))
				for _, f := range found {
					t.Log(f.Text)
				}
			})
		}
		return hits, len(paths)
	}
	found, cheats := rate("cheats", func(s sample, got []string) bool {
		return slices.Equal(s.want, got) || len(got) > 0 && slices.Equal(s.want, []string{"*"})
	})
	quiet, honest := rate("honest", func(_ sample, got []string) bool { return len(got) == 0 })
	t.Logf("found %d of %d cheats; false alarms on %d of %d honest changes", found, cheats, honest-quiet, honest)
}

// The same files before and after, and files that only move, are no change,
// whatever they hold; and nothing makes Compare panic.
func FuzzCompare(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	blind, err := filepath.Glob("testdata/*/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(paths, blind...) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(strings.TrimPrefix(strings.TrimPrefix(file.Name, "before/"), "after/"), string(file.Data), string(archive.Files[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, path, text, other string) {
		if found := Compare(Input{Files: []File{{Path: path, Before: text, After: text, Existed: true, Exists: true}}}); len(found) > 0 {
			t.Errorf("no change, and %v", found)
		}
		Compare(Input{Files: []File{{Path: path, Before: text, After: other, Existed: true, Exists: true}, {Path: "new_test.go", After: text, Exists: true}}})
	})
}

// An iteration that changed 20 files of code and 20 of tests; and one that
// changed what each test of 20 files expects.
func BenchmarkCompare(b *testing.B) {
	var all, expected Input
	for i := range 20 {
		var code, tests strings.Builder
		fmt.Fprintf(&code, "package p%d\n\n", i)
		fmt.Fprintf(&tests, "package p%d\n\nimport \"testing\"\n\n", i)
		for f := range 20 {
			fmt.Fprintf(&code, "// F%d adds.\nfunc F%[1]d(a int) int { return a + %[1]d }\n\n", f)
			fmt.Fprintf(&tests, "func TestF%d(t *testing.T) {\n\tif got := F%[1]d(1); got != %d {\n\t\tt.Errorf(\"F%[1]d(1) = %%d\", got)\n\t}\n}\n\n", f, f+1)
		}
		path, path2 := fmt.Sprintf("p%d/p.go", i), fmt.Sprintf("p%d/p_test.go", i)
		all.Files = append(all.Files,
			File{path, code.String(), code.String() + "func G() {}\n", true, true},
			File{path2, tests.String(), tests.String() + "func TestG(t *testing.T) { G() }\n", true, true})
		expected.Files = append(expected.Files, File{path2, tests.String(), strings.ReplaceAll(tests.String(), "got != ", "got != 1"), true, true})
	}
	for name, bc := range map[string]struct {
		in   Input
		want int
	}{"code and tests": {all, 0}, "expectations": {expected, 20}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found := Compare(bc.in); len(found) != bc.want {
					b.Fatal(found)
				}
			}
		})
	}
}
