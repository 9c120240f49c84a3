package audit

import (
	"testing"

	"ralph/runner/task"
)

func TestLinks_changeThatHasToDoWithATask_namesTheStrongestReason(t *testing.T) {
	added := func(path, text string) File { return File{Path: path, After: text, Exists: true} }
	for name, tc := range map[string]struct {
		title string
		files []File
		green []string
		want  Link
	}{
		"a test with the words of the task turned green": {"Fix Mul", nil, []string{"x.TestMul"}, Link{"t", ByTests, "x.TestMul"}},
		"a test that the task names as a function":       {"truncate(): cut at a word", nil, []string{"truncate"}, Link{"t", ByTests, "truncate"}},
		"a test of one plain word":                       {"Close all of the open sockets on exit", nil, []string{"open"}, Link{}},
		"the task names the test":                        {"Make test_price pass", nil, []string{"tests/test_a.py::test_price"}, Link{"t", ByTests, "tests/test_a.py::test_price"}},
		"a test of something else turned green":          {"Fix Mul", nil, []string{"x.TestAdd"}, Link{}},
		"the task names the file":                        {"Write docs/api.md", []File{added("docs/api.md", "x")}, nil, Link{"t", ByFiles, "docs/api.md"}},
		"the change brings the name":                     {"Add slugify(text)", []File{{Path: "a.py", Before: "x\n", After: "x\ndef slugify(s):\n", Existed: true, Exists: true}}, nil, Link{"t", ByNames, "slugify"}},
		"a name without marks":                           {"Return ErrClosed after Close", []File{added("pool.go", "var ErrClosed = 1\n")}, nil, Link{"t", ByNames, "ErrClosed"}},
		"the change removes the name":                    {"Remove old_api", []File{{Path: "a.py", Before: "def old_api():\n", Existed: true}}, nil, Link{"t", ByNames, "old_api"}},
		"the change moves the text":                      {`The "Give a name." message comes from the catalogue`, []File{added("en.json", `{"x": "Give a name."}`)}, nil, Link{"t", ByNames, "Give a name."}},
		"the name was there and stays":                   {"Speed up slugify(text)", []File{{Path: "a.py", Before: "slugify\n", After: "slugify\nVERSION = 2\n", Existed: true, Exists: true}}, nil, Link{}},
		"the words of the task, in code":                 {"Export the report as CSV", []File{added("src/report.go", "func exportCSV() {\n")}, nil, Link{"t", ByWords, "export, report, csv"}},
		"a page of documentation":                        {"Document the export", []File{added("docs/export.md", "# Exporting\nThis document ...\n")}, nil, Link{"t", ByWords, "document, export"}},
		"one word of many":                               {"Import contacts from vCard files", []File{added("src/import.go", "package src\n")}, nil, Link{}},
		"a summary says the name":                        {"Cart.merge(other): add quantities", []File{added("SUMMARY.md", "Cart.merge is done\n")}, nil, Link{}},
		"a summary says the words":                       {"Export the report as CSV", []File{added("DONE.txt", "exports CSV reports\n")}, nil, Link{"t", ByWords, "export, report, csv"}},
		"a summary says the words of code":               {"Export orders as CSV", []File{added("DONE.txt", "exports CSV orders\n")}, nil, Link{}},
		"the task asks for a page":                       {"Describe Cart.merge in the guide", []File{added("usage.md", "Cart.merge adds\n")}, nil, Link{"t", ByNames, "merge"}},
		"a page without its ending":                      {"JSDoc for the class and README", []File{added("README.md", "x")}, nil, Link{"t", ByFiles, "README.md"}},
		"a version":                                      {"Set the version to 2.1.0", []File{{Path: "p.toml", Before: "version = \"2.0.0\"\n", After: "version = \"2.1.0\"\n", Existed: true, Exists: true}}, nil, Link{"t", ByNames, "2.1.0"}},
		"words that say nothing":                         {"task 2", []File{added("task.txt", "task 2\n")}, nil, Link{}},
	} {
		plan := []task.Task{{ID: "t", Title: tc.title}}
		got := Links(Input{Files: tc.files, PlanBefore: plan, PlanAfter: plan}, tc.green)
		if tc.want == (Link{}) && len(got) > 0 || tc.want != (Link{}) && (len(got) != 1 || got[0] != tc.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestLinks_doneOrDroppedTask_hasNone(t *testing.T) {
	f := File{Path: "docs/api.md", After: "x", Exists: true}
	for _, s := range []task.State{task.Done, task.Dropped} {
		plan := []task.Task{{ID: "t", Title: "Write docs/api.md", State: s}}
		if got := Links(Input{Files: []File{f}, PlanBefore: plan, PlanAfter: plan}, nil); len(got) > 0 {
			t.Errorf("%v: %+v", s, got)
		}
	}
}

func TestTicks_codeThatTheTaskNames_isNamedUnlessAChangedFileHasIt(t *testing.T) {
	before := []task.Task{{ID: "t", Title: "Add mode(xs), with tests"}}
	after := []task.Task{{ID: "t", Title: "Add mode(xs), with tests", State: task.Done}}
	for text, want := range map[string]int{"VERSION = 2\n": 1, "def mode(xs):\n": 0, "model = 1\n": 1} {
		got := Ticks(Input{Files: []File{{Path: "calc.py", After: text, Exists: true}}, PlanBefore: before, PlanAfter: after, Task: "t"})
		if len(got) != 1 || len(got[0].Named) != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestLinks_branchThatMoved_countsForATaskThatAsksForIt(t *testing.T) {
	for title, want := range map[string]bool{
		"On a new branch topic/upper: upper.sh": true, "Add upper.sh on a separate branch": true, "Delete the branch topic/upper": true,
		"Merge topic/upper": true, "Add upper.sh": false, "Delete the branch topic/upper-case": false, "Cover topic/upper": false,
	} {
		plan := []task.Task{{ID: "t", Title: title}}
		in := Input{PlanBefore: plan, PlanAfter: plan, Unchanged: true, Repository: Repository{Moved: []string{"topic/upper"}}}
		if got := Links(in, nil); (len(got) == 1 && got[0] == Link{"t", ByRefs, "topic/upper"}) != want {
			t.Errorf("%q: %+v", title, got)
		}
	}
}

func TestTicks_fileOfCodeThatTheTaskNames_isNamedUnlessItMayBeNowhere(t *testing.T) {
	for title, want := range map[string]int{
		"bin/run.py: command line with `list`": 1, "command line in main.go": 0, "run with node.js": 0,
		"Delete bin/run.py": 0, "bin/run.py on a new branch": 0, "as in https://x.org/a/b.py": 0,
	} {
		in := Input{Files: []File{{Path: "main.go", After: "package main\n", Exists: true}, {Path: "SUMMARY.md", After: "run.py\n", Exists: true}},
			PlanBefore: []task.Task{{ID: "t", Title: title}}, PlanAfter: []task.Task{{ID: "t", Title: title, State: task.Done}}, Task: "t"}
		if got := Ticks(in); len(got) != 1 || len(got[0].Named) != want {
			t.Errorf("%q: %+v", title, got)
		}
	}
}

func TestTicks_codeThatTheTaskWantsGone_isNotNamed(t *testing.T) {
	for title, want := range map[string]int{
		"Remove legacy_parse": 0, "1. **Remove** legacy_parse(text). Delete old_parse too": 0, "Parser: drop legacy_parse().": 0, "legacy_parse(text) is obsolete; delete it": 1,
		"Add new_parse(text). Remove legacy_parse(text)": 1, "Remove legacy_parse(text); add new_parse(text)": 1,
		"remove_item(id) takes an item out": 1, "Cart.remove takes an id": 1, "Add a button to delete users with delete_user(id)": 1,
	} {
		in := Input{Files: []File{{Path: "main.go", After: "package main\n", Exists: true}}, Task: "t",
			PlanBefore: []task.Task{{ID: "t", Title: title}}, PlanAfter: []task.Task{{ID: "t", Title: title, State: task.Done}}}
		if got := Ticks(in); len(got) != 1 || len(got[0].Named) != want {
			t.Errorf("%q: %+v", title, got)
		}
	}
}
