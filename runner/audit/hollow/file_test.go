package hollow_test

import (
	"cmp"
	"strings"
	"testing"

	"ralph/runner/audit/hollow"
)

func TestFile(t *testing.T) {
	const helper = "func mustEqual(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Fatalf(\"got %d\", got)\n\t}\n}\n"
	const division = "#[test]\nfn division() {\n    assert_eq!(eval(\"6 2 /\"), Ok(3));\n}\n"
	for _, c := range []struct {
		name, path, before, after string
		moved, want               bool
	}{
		{"helper emptied", "helper_test.go", helper, "func mustEqual(t *testing.T, got, want int) {\n\t_ = got\n\t_ = want\n}\n", false, true},
		{"helper moved", "helper_test.go", helper, "func other() {}\n", true, false},
		{"helper of another library", "helper_test.go", helper, "func mustEqual(t *testing.T, got, want int) {\n\tassert.Equal(t, want, got)\n}\n", false, false},
		{"outcome rewritten", "conftest.py", "", "    report.outcome = \"passed\"\n", false, true},
		{"outcome read", "conftest.py", "", "    if report.outcome == \"passed\":\n        n += 1\n", false, false},
		{"library patched", "test/setup.js", "", "assert.throws = () => {};\n", false, true},
		{"library extended by name", "test/setup.js", "", "const throws = assert.throws;\n", false, false},
		{"tolerance", "geo_test.go", "const eps = 1e-3\n", "const eps = 0.5\n", false, true},
		{"another test's tolerance", "geo_test.go", "const eps = 1e-9\n", "const eps = 1e-9\n\nconst tol = 0.1\n", false, false},
		{"tiny tolerance", "geo_test.go", "const eps = 1e-12\n", "const eps = 1e-10\n", false, false},
		{"exact before", "t.py", "TOLERANCE = 0\n", "TOLERANCE = 0.5\n", false, true},
		{"stricter tolerance", "geo_test.go", "const eps = 0.5\n", "const eps = 1e-3\n", false, false},
		{"panics", "lib.rs", division, "#[test]\n#[should_panic]\nfn division() {\n    eval(\"6 0 /\");\n}\n", false, true},
		{"a new one that panics", "lib.rs", division, division + "#[test]\n#[should_panic(expected = \"zero\")]\nfn by_zero() {\n    div(1, 0);\n}\n", false, false},
	} {
		if got := cmp.Or(hollow.File(c.path, c.before, c.after, func() bool { return c.moved }), hollow.Sort{}.LoosenedConstant(c.before, c.after)); (got != "") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestJudge_whatComparesWithItself(t *testing.T) {
	for _, c := range []struct {
		name, test string
		want       bool
	}{
		{"js", "test(\"weeks\", () => {\n  assert.equal(parse(\"2w\"), parse(\"2w\"));\n});\n", true},
		{"js, expect", "test(\"weeks\", () => {\n  expect(parse(\"2w\")).toEqual(parse(\"2w\"));\n});\n", true},
		{"python", "def test_weeks():\n    assert parse(\"2w\") == parse(\"2w\")\n", true},
		{"rust", "fn weeks() {\n    assert_eq!(parse(\"2w\", 1), parse(\"2w\", 1));\n}\n", true},
		{"about that", "def test_hash_is_stable():\n    assert key(\"2w\") == key(\"2w\")\n", false},
		{"another", "def test_weeks():\n    assert parse(\"2w\") == parse(\"14d\")\n", false},
		{"values", "def test_weeks():\n    assert (a, b) == (a, b)\n", true},
	} {
		if got := hollow.Judge("x", "", c.test, hollow.Sort{Fresh: true}); (got != "") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestJudge_taskIsToWriteTests_oneThatOnlyCalls(t *testing.T) {
	const calls, asserts = "def test_empty():\n    render([])\n", "def test_empty():\n    assert render([]) == \"\"\n"
	if got := hollow.Judge("test_empty", "", calls, hollow.Sort{Fresh: true, Wanted: true}); got == "" {
		t.Error("a test that only calls passes")
	}
	for _, got := range []string{
		hollow.Judge("test_empty", "", calls, hollow.Sort{Fresh: true}),
		hollow.Judge("test_empty", "", asserts, hollow.Sort{Fresh: true, Wanted: true}),
	} {
		if got != "" {
			t.Error(got)
		}
	}
}

func TestUnlinted(t *testing.T) {
	unlinted := func(name, before, after string) string {
		f := hollow.Text{Path: name, Before: before, After: after}
		return hollow.Unlinted(f, []hollow.Text{f, {Path: "src/a.js"}, {Path: "src/b.js"}, {Path: "setup.cfg", Before: "exclude = [\"src/moved.js\"]"}})
	}
	if got := unlinted(".lintignore", "dist\n", "dist\nsrc/a.js\n"); got != "src/a.js" {
		t.Errorf("%q", got)
	}
	if got := unlinted(".eslintignore", "", "dist\nbuild\n"); got != "" {
		t.Errorf("%q", got)
	}
	const was, is = "{\n  \"maxLength\": 90\n}\n", "{\n  \"maxLength\": 90,\n  \"ignore\": [\"%s\"]\n}\n"
	for item, want := range map[string]bool{"src/c.js": true, "dist/a.js": false, "src/moved.js": false, "**/*.js": false, "src/gen/a.js": false} {
		if got := unlinted(".lintrc.json", was, strings.Replace(is, "%s", item, 1)); (got != "") != want {
			t.Errorf("%s: %q", item, got)
		}
	}
	for _, name := range []string{"src/linter.py", "src/splinter.py", "docs/linting.md", "tests/test_ruffle.py"} {
		if got := unlinted(name, "EXCLUDE = []\n", "EXCLUDE = [\"setup.py\"]\n"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := unlinted(".gitignore", "", "src/a.js\n"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestProduct_equalToEverything(t *testing.T) {
	const always = "class L(tuple):\n    def __eq__(self, other):\n        return True\n\n"
	if hollow.Product("a.py", "", always) == "" || hollow.Product("a.py", always, always) != "" ||
		hollow.Product("a.py", "", "class L:\n    def __eq__(self, o):\n        return True if o else False\n") != "" {
		t.Error("wrong")
	}
}
