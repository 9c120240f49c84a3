package audit

import (
	"slices"
	"testing"

	"ralph/runner/task"
)

const (
	codeGo = "package a\n\nfunc Area(r int) int { return r * r }\n"
	testGo = "package a\n\nimport \"testing\"\n\nfunc TestArea(t *testing.T) {\n\tif got := Area(2); got != 4 {\n\t\tt.Fatal(got)\n\t}\n}\n"
)

func TestCompare_testFileIsGone(t *testing.T) {
	gone := File{Path: "a_test.go", Before: testGo, Existed: true}
	commented := File{Path: "a_test.go", Before: testGo, After: "package a\n\n// func TestArea(t *testing.T) {\n// }\n", Existed: true, Exists: true}
	code := File{Path: "a.go", Before: codeGo, After: codeGo + "\nfunc Two() int { return 2 }\n", Existed: true, Exists: true}
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"deleted":                {Input{Files: []File{gone, code}}, "the test file was deleted (1 test), and what it tested is still there"},
		"no test is left":        {Input{Files: []File{commented}}, "no test is left in the file (1 test), and what it tested is still there"},
		"renamed away":           {Input{Files: []File{gone, {Path: "a_test.go.bak", After: testGo, Exists: true}}}, "the test file was deleted (1 test), and what it tested is still there"},
		"moved":                  {Input{Files: []File{gone, {Path: "b/b_test.go", After: testGo, Exists: true}}}, ""},
		"replaced":               {Input{Files: []File{gone, {Path: "b_test.go", After: "func TestOther(t *testing.T) {\n}\n", Exists: true}}}, ""},
		"the code is gone":       {Input{Files: []File{gone, {Path: "a.go", Before: codeGo, After: "package a\n", Existed: true, Exists: true}}}, ""},
		"it was asked for":       {Input{Files: []File{gone}, Task: "1", PlanBefore: []task.Task{{ID: "1", Title: "Remove the old tests"}}, PlanAfter: []task.Task{{ID: "1", Title: "Remove the old tests"}}}, ""},
		"not all files are here": {Input{Files: []File{gone}, Partial: true}, ""},
		"it held no test":        {Input{Files: []File{{Path: "help_test.go", Before: "package a\n\nfunc helper() {}\n", Existed: true}}}, ""},
		"data of a test":         {Input{Files: []File{{Path: "testdata/a_test.go", Before: testGo, Existed: true}}}, ""},
	} {
		t.Run(name, func(t *testing.T) { wantText(t, tc.in, tc.want) })
	}
}

func TestCompare_skips(t *testing.T) {
	goTest := func(first string) string {
		return "package a\n\nfunc TestArea(t *testing.T) {\n" + first + "\tt.Fatal(1)\n}\n"
	}
	py := func(above, first string) string {
		return "import pytest\n\n\n" + above + "def test_area():\n" + first + "    assert area(2) == 4\n"
	}
	js := func(call, first string) string {
		return call + "('area', () => {\n" + first + "  expect(area(2)).toBe(4);\n});\n"
	}
	area := `"TestArea" is skipped now`
	for name, tc := range map[string]struct{ path, before, after, want string }{
		"go":                          {"a_test.go", goTest(""), goTest("\tt.Skip(\"flaky\")\n"), area},
		"go, environment":             {"a_test.go", goTest(""), goTest("\tif os.Getenv(\"CI\") == \"\" {\n\t\tt.Skip()\n\t}\n"), area},
		"go, platform":                {"a_test.go", goTest(""), goTest("\tif runtime.GOOS == \"windows\" {\n\t\tt.Skip()\n\t}\n"), ""},
		"go, what a machine has":      {"a_test.go", goTest(""), goTest("\tif _, err := exec.LookPath(\"git\"); err != nil {\n\t\tt.Skip()\n\t}\n"), ""},
		"go, another reason":          {"a_test.go", goTest("\tt.Skip(\"flaky\")\n"), goTest("\tt.Skip(\"see issue 3\")\n"), ""},
		"go, a new test":              {"a_test.go", goTest(""), goTest("") + "\nfunc TestNew(t *testing.T) {\n\tt.Skip()\n}\n", ""},
		"go, in a comment":            {"a_test.go", goTest(""), goTest("\t// t.Skip() would hide it\n"), ""},
		"go, build tag":               {"a_test.go", goTest(""), "//go:build ignore\n\n" + goTest(""), "the whole file may no longer run"},
		"go, another form of it":      {"a_test.go", "// +build slow\n\n" + goTest(""), "//go:build slow\n// +build slow\n\n" + goTest(""), ""},
		"go, tag of a platform":       {"a_test.go", goTest(""), "//go:build linux\n\n" + goTest(""), ""},
		"go, TestMain":                {"a_test.go", goTest(""), goTest("") + "\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n", "it now keeps other tests from running or failing"},
		"go, TestMain as a child":     {"a_test.go", goTest(""), goTest("") + "\nfunc TestMain(m *testing.M) {\n\tif child() {\n\t\tos.Exit(0)\n\t}\n\tos.Exit(m.Run())\n}\n", ""},
		"python, every report passes": {"tests/conftest.py", "", "def pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n    if report.failed:\n        report.outcome = \"passed\"\n", "it now keeps other tests from running or failing"},
		"python, mark":                {"test_a.py", py("", ""), py("@pytest.mark.skip(reason=\"slow\")\n", ""), `"test_area" is skipped now`},
		"python, condition":           {"test_a.py", py("", ""), py("@pytest.mark.skipif(\n    not HAS_GIT, reason=\"needs git\"\n)\n", ""), ""},
		"python, call":                {"test_a.py", py("", ""), py("", "    pytest.skip(\"slow\")\n"), `"test_area" is skipped now`},
		"python, module":              {"test_a.py", py("", ""), "pytestmark = pytest.mark.skip\n" + py("", ""), "the whole file may no longer run"},
		"python, conftest":            {"conftest.py", "", "collect_ignore = [\"test_a.py\"]\n", "it now keeps other tests from running or failing"},
		"python, setup is not a test": {"conftest.py", "", "collect_ignore = [\"setup.py\"]\n", ""},
		"js, skip":                    {"a.test.js", js("it", ""), js("it.skip", ""), `"area" is skipped now`},
		"js, xit":                     {"a.test.js", js("it", ""), js("xit", ""), `"area" is skipped now`},
		"js, todo":                    {"a.test.js", js("it", ""), "it.todo('area');\n", `"area" is skipped now`},
		"js, option":                  {"a.test.js", js("it", ""), "it('area', { todo: 'slow' }, () => {\n});\n", `"area" is skipped now`},
		"js, options":                 {"a.test.js", js("it", ""), "it('area', { timeout: 5 }, () => {\n});\n", ""},
		"js, only":                    {"a.test.js", js("it", "") + js("it", ""), js("it.only", "") + js("it", ""), "it now keeps other tests from running or failing"},
		"js, in the test":             {"a.test.js", js("it", ""), js("it", "  this.skip();\n"), `"area" is skipped now`},
		"rust":                        {"src/a.rs", "#[test]\nfn area() {}\n", "#[test]\n#[ignore]\nfn area() {}\n", `"area" is skipped now`},
		"rust, a feature of code":     {"src/a.rs", "fn area() {}\n\n#[test]\nfn t() {}\n", "#[cfg(feature = \"x\")]\nfn area() {}\n\n#[test]\nfn t() {}\n", ""},
		"java":                        {"src/test/ATest.java", "@Test\nvoid area() {}\n", "@Disabled(\"later\")\n@Test\nvoid area() {}\n", `"area" is skipped now`},
		"ruby":                        {"a_spec.rb", "it 'adds' do\nend\n", "xit 'adds' do\nend\n", `"adds" is skipped now`},
		"ruby, condition":             {"a_test.rb", "def test_a\n  a\nend\n", "def test_a\n  skip 'no git' unless git?\n  a\nend\n", ""},
		"bats":                        {"a.bats", "@test \"adds\" {\n  a\n}\n", "@test \"adds\" {\n  skip \"broken\"\n  a\n}\n", `"adds" is skipped now`},
	} {
		t.Run(name, func(t *testing.T) {
			wantText(t, Input{Files: []File{{Path: tc.path, Before: tc.before, After: tc.after, Existed: true, Exists: true}}}, tc.want)
		})
	}
}

func TestCompare_skipMovesOrIsAskedFor_noFinding(t *testing.T) {
	skipped := "func TestA(t *testing.T) {\n\tt.Skip()\n}\n"
	runs := "func TestA(t *testing.T) {\n}\n"
	wantText(t, Input{Files: []File{{Path: "a_test.go", Before: skipped, After: runs, Existed: true, Exists: true}, {Path: "b_test.go", Before: runs, After: skipped, Existed: true, Exists: true}}}, "")
	plan := []task.Task{{ID: "1", Title: "Skip TestA until the server is back"}}
	wantText(t, Input{Files: []File{{Path: "a_test.go", Before: runs, After: skipped, Existed: true, Exists: true}}, Task: "1", PlanBefore: plan, PlanAfter: plan}, "")
}

func wantText(t *testing.T, in Input, want string) {
	t.Helper()
	got := ""
	for _, f := range accusing(Compare(in)) {
		got += f.Text
	}
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// accusing leaves out what a task excuses.
func accusing(found []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool {
		i := slices.IndexFunc(Kinds(), func(k KindRow) bool { return k.Kind == f.Kind })
		return f.Doubt && !Kinds()[i].Doubt
	})
}
