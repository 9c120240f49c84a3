package retest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
)

func TestPlan_changedFiles_onlyTestsAndWhatReplacesTheirRunner(t *testing.T) {
	old := func(name string) git.Text {
		return git.Text{Path: name, Before: "1", After: "2", Existed: true, Exists: true}
	}
	added := func(name string) git.Text { return git.Text{Path: name, After: "2", Exists: true} }
	settings := func(name, before, after string) git.Text {
		return git.Text{Path: name, Before: before, After: after, Existed: true, Exists: true}
	}
	for name, c := range map[string]struct {
		files []git.Text
		want  string
	}{
		"code":                        {[]git.Text{old("a.go"), old("spec/a.go"), added("src/node.js"), added("shop/pytest.py")}, ""},
		"the plan":                    {[]git.Text{old(".ralph/fix_plan.md"), old("sub/.ralph/specs/a.md")}, ""},
		"a test file":                 {[]git.Text{old("a_test.go")}, "with a_test.go as before"},
		"a helper and data":           {[]git.Text{old("tests/lib.sh"), old("tests/data/a.json"), old("out.golden")}, "with tests/lib.sh, tests/data/a.json, out.golden as before"},
		"new data":                    {[]git.Text{added("tests/data/a.json"), added("testdata/b.golden")}, ""},
		"new settings among tests":    {[]git.Text{added("tests/pytest.ini"), added("tests/jest.json")}, "without tests/pytest.ini, tests/jest.json"},
		"a new test file":             {[]git.Text{added("main_test.go")}, "without main_test.go"},
		"a new conftest":              {[]git.Text{added("conftest.py")}, "without conftest.py"},
		"a module like the runner":    {[]git.Text{added("pytest.py")}, "without pytest.py"},
		"a package like the runner":   {[]git.Text{added("unittest/__init__.py")}, "without unittest/__init__.py"},
		"the module of the command":   {[]git.Text{added("checks.py")}, "without checks.py"},
		"a program":                   {[]git.Text{added("bin/node")}, "without bin/node"},
		"a module":                    {[]git.Text{added("shop.py"), old("pytest.py")}, ""},
		"settings that name a file":   {[]git.Text{settings("package.json", "", `"test": "node --import ./hush.mjs"`), added("hush.mjs")}, "with package.json as before and without hush.mjs"},
		"settings that name a module": {[]git.Text{settings("pyproject.toml", "", `shop = "shop.export:main"`), added("shop/export.py")}, ""},
		"settings that named it":      {[]git.Text{settings("package.json", "\"test\": \"./hush.mjs\"\n", "\"test\": \"./hush.mjs\"\n\n"), added("hush.mjs")}, ""},
		"tests in Rust":               {[]git.Text{settings("src/lib.rs", "a\n#[cfg(test)]\nx", "b\n#[cfg(test)]\ny")}, "with src/lib.rs as before"},
		"helpers in Go":               {[]git.Text{settings("check/check.go", "import \"testing\"\n", "x"), settings("a.go", "import (\n\t\"os\"\n\t\"testing\"\n)\n", "x")}, "with check/check.go, a.go as before"},
		"code that loads no tests":    {[]git.Text{settings("check/check.go", "x", "import \"testing\"\n"), settings("src/a.js", "import assert from 'node:assert'", "x")}, ""},
		"helpers in JavaScript":       {[]git.Text{settings("lib/check.js", "import assert from 'node:assert/strict'\n", "x")}, "with lib/check.js as before"},
		"a file with its own tests":   {[]git.Text{settings("examples.py", "import unittest\n\nclass SumTest(unittest.TestCase): pass\n", "x")}, ""},
		"code in Rust":                {[]git.Text{settings("src/lib.rs", "a\n#[cfg(test)]\nx", "b\n#[cfg(test)]\nx")}, ""},
	} {
		if got := plan(c.files, []gate.Check{{Command: "python -m checks -q"}}).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	u := plan([]git.Text{settings("src/lib.rs", "a\n#[cfg(test)]\nx", "b\n#[cfg(test)]\ny")}, nil)
	if got := u.files[0].Before; got != "b\n#[cfg(test)]\nx" {
		t.Errorf("the code of now with the tests of then: %q", got)
	}
}

func TestConfirmed_failedTests(t *testing.T) {
	const f, p = report.Failed, report.Passed
	type tests map[string]report.Status
	rep := func(passed bool, all tests, message string) gate.Report {
		r := gate.Result{Name: "test", Passed: passed}
		for name, status := range all {
			r.Tests.Tests = append(r.Tests.Tests, report.Test{Name: name, Status: status, Message: message})
		}
		return gate.Report{Results: []gate.Result{r}}
	}
	for name, c := range map[string]struct {
		then, now gate.Report
		want      string
		flaky     bool
	}{
		"red before and as before":             {rep(false, tests{"red": f}, ""), rep(true, tests{"red": p}, ""), "failed before the task, and still fails with a_test.go as before: red", false},
		"red before, with another name now":    {rep(false, tests{"red": f}, ""), rep(true, tests{"new": p}, ""), "still fails", false},
		"red before, green as before":          {rep(true, tests{"red": p}, ""), rep(true, tests{"red": p}, ""), "", false},
		"the copy itself fails":                {rep(false, tests{"red": f}, ""), rep(false, tests{"other": f}, ""), "", false},
		"green before":                         {rep(false, tests{"green": f}, "1 != 2"), rep(true, tests{"green": p}, ""), "", false},
		"it does not build, so nothing is run": {rep(false, tests{"package": f}, ""), rep(true, tests{"red": p}, ""), "", false},
		"it fails in one of two runs":          {rep(false, tests{"red": f}, ""), rep(true, tests{"red": p}, ""), "", true},
	} {
		u, again := undo{tests: []string{"a_test.go"}}, c.then
		if c.flaky {
			again = c.now
		}
		got := strings.Join(u.confirmed(u.suspects(c.then, again, map[string]gate.Entry{"test": {Failed: []string{"red"}}}), c.now), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A test cannot pass as it was if it calls what is gone, or lacks a helper that was
// never there.
func TestSuspects_testThatCannotPassAsItWas_isNone(t *testing.T) {
	code := git.Text{Path: "show.js", Before: "const show = (cents, locale) => 1", After: "const print = cents => 1", Existed: true, Exists: true}
	test := git.Text{Path: "show.test.js", Before: "test('German', () => show(1, 'de'))", After: "test('none', () => 1)", Existed: true, Exists: true}
	rig := git.Text{Path: "conftest.py", After: "@pytest.fixture\ndef prices():\n    return [1]\n", Exists: true}
	hook := rig
	hook.After += "\n\ndef pytest_collection_modifyitems(items):\n    items.clear()\n"
	for name, c := range map[string]struct {
		files         []git.Text
		test, message string
		want          int
	}{
		"what it calls is gone":   {[]git.Text{code, test}, "German", "'1' !== '2'", 0},
		"what it calls is there":  {[]git.Text{test}, "German", "'1' !== '2'", 1},
		"a fixture that was lost": {[]git.Text{rig}, "t.py::test_sum", "fixture 'prices' not found", 0},
		"another fixture":         {[]git.Text{rig}, "t.py::test_sum", "fixture 'sums' not found", 1},
		"one beside a hook":       {[]git.Text{hook}, "t.py::test_sum", "fixture 'prices' not found", 1},
	} {
		r := gate.Report{Results: []gate.Result{{Name: "test", Tests: report.Summary{Tests: []report.Test{{Name: c.test, Status: report.Failed, Message: c.message}}}}}}
		u := plan(c.files, nil)
		if got := u.suspects(r, r, map[string]gate.Entry{"test": {Failed: []string{c.test}}}); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNew_copyOfAKilledProgram_isRemoved(t *testing.T) {
	cache := t.TempDir()
	dead := filepath.Join(cache, "ralph", "copies", "copy-1")
	if err := os.MkdirAll(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	New([]string{"XDG_CACHE_HOME=" + cache})
	if _, err := os.Stat(dead); err == nil {
		t.Error("it is still there")
	}
}

func TestChangedTests_listsWhatExistedAndLostLines(t *testing.T) {
	const goTest = "package a\n\nfunc TestA(t *testing.T) {\n\tcheck(t, 1)\n}\n\nfunc TestB(t *testing.T) {\n\tcheck(t, 2)\n}\n"
	text := func(name, before, after string) git.Text {
		return git.Text{Path: name, Before: before, After: after, Existed: before != "", Exists: after != ""}
	}
	for name, c := range map[string]struct {
		files []git.Text
		want  string
	}{
		"another value":         {[]git.Text{text("a_test.go", goTest, strings.Replace(goTest, "t, 2", "t, 3", 1))}, "a_test.go (TestB)"},
		"a test that is gone":   {[]git.Text{text("a_test.go", goTest, goTest[:strings.Index(goTest, "func TestB")])}, "a_test.go (TestB)"},
		"a new test":            {[]git.Text{text("a_test.go", goTest, goTest+"\nfunc TestC(t *testing.T) {\n\tcheck(t, 3)\n}\n")}, ""},
		"a new file":            {[]git.Text{text("a_test.go", "", goTest)}, ""},
		"code":                  {[]git.Text{text("a.go", "1\n", "2\n")}, ""},
		"a golden file":         {[]git.Text{text("testdata/a.golden", "1\n", "2\n")}, "testdata/a.golden"},
		"a deleted file":        {[]git.Text{text("tests/a.py", "def test_a():\n    assert 1\n", "")}, "tests/a.py (deleted)"},
		"a file that was moved": {[]git.Text{text("tests/a.py", "def test_a():\n    assert 1\n", ""), text("tests/b.py", "", "def test_a():\n    assert 1\n")}, ""},
		"tests among code": {[]git.Text{text("src/lib.rs", "fn a() -> i32 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert_eq!(a(), 1);\n    }\n}\n",
			"fn a() -> i32 { 2 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert_eq!(a(), 2);\n    }\n}\n")}, "src/lib.rs (one)"},
		"code beside tests": {[]git.Text{text("src/lib.rs", "fn a() -> i32 { 1 }\n#[cfg(test)]\nmod tests {}\n", "fn a() -> i32 { 2 }\n#[cfg(test)]\nmod tests {}\n")}, ""},
		"a JavaScript test": {[]git.Text{text("a.test.js", "test('adds two', () => {\n  is(1)\n})\n", "test('adds two', () => {\n  is(2)\n})\n")}, "a.test.js (adds two)"},
	} {
		if got := strings.Join(changedTests(c.files), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
