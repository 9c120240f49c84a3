package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
)

// project is a small real project: its checks, its files when all tests pass, and
// a change that breaks one test.
type project struct {
	name    string
	needs   string // program on PATH
	check   Check
	green   map[string]string
	red     map[string]string
	blamed  string // name of the broken test
	message string // piece of its message
	total   int    // tests that are seen when all is well
	// empty has the files before there are any tests; nil: none.
	empty map[string]string
}

func projects() []project {
	goLib := func(op string) string { return "package calc\n\nfunc Add(a, b int) int { return a " + op + " b }\n" }
	rsLib := func(op string) string {
		return "pub fn add(a: i32, b: i32) -> i32 { a " + op + " b }\n#[cfg(test)]\nmod tests {\n #[test] fn adds() { assert_eq!(super::add(1, 2), 3); }\n #[test] fn zero() { assert_eq!(super::add(0, 0), 0); }\n}\n"
	}
	return []project{
		{
			name: "go", needs: "go", check: Check{Name: "test", Command: "go test ./..."},
			green: map[string]string{
				"go.mod": "module example.com/calc\n\ngo 1.24\n", "calc.go": goLib("+"),
				"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"Add(1, 2) = %d, want 3\", got)\n\t}\n}\n\nfunc TestZero(t *testing.T) {}\n",
			},
			red: map[string]string{"calc.go": goLib("-")}, blamed: "example.com/calc.TestAdd", message: "Add(1, 2) = -1, want 3", total: 2,
			empty: map[string]string{"go.mod": "module example.com/calc\n\ngo 1.24\n"},
		},
		{
			name: "node", needs: "node", check: Check{Name: "test", Command: "npm test"},
			green: map[string]string{
				"package.json": `{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test --test-reporter=tap"}}`,
				"calc.js":      "exports.add = (a, b) => a + b;\n",
				"calc.test.js": "const { test } = require('node:test');\nconst assert = require('assert');\nconst { add } = require('./calc');\ntest('adds', () => assert.strictEqual(add(1, 2), 3));\ntest('zero', () => assert.strictEqual(add(0, 0), 0));\n",
			},
			red: map[string]string{"calc.js": "exports.add = (a, b) => a - b;\n"}, blamed: "adds", message: "-1 !== 3", total: 2,
		},
		{
			name: "node spec reporter", needs: "node", check: Check{Name: "test", Command: "node --test --test-reporter=spec"},
			green: map[string]string{
				"calc.js":      "exports.add = (a, b) => a + b;\n",
				"calc.test.js": "const { test } = require('node:test');\nconst assert = require('assert');\nconst { add } = require('./calc');\ntest('adds', () => assert.strictEqual(add(1, 2), 3));\ntest('zero', () => assert.strictEqual(add(0, 0), 0));\n",
			},
			red: map[string]string{"calc.js": "exports.add = (a, b) => a - b;\n"}, blamed: "adds", message: "-1 !== 3", total: 2,
		},
		{
			name: "python", needs: "python3", check: Check{Name: "test", Command: "python3 -B -m unittest"},
			green: map[string]string{
				"calc.py":      "def add(a, b):\n    return a + b\n",
				"test_calc.py": "import unittest\nfrom calc import add\n\nclass Calc(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n",
			},
			red: map[string]string{"calc.py": "def add(a, b):\n    return a - b\n"}, blamed: "test_calc.Calc.test_adds", message: "-1 != 3", total: 2,
		},
		{
			name: "rust", needs: "cargo", check: Check{Name: "test", Command: "cargo test --offline --lib"},
			green: map[string]string{
				"Cargo.toml": "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": rsLib("+"),
			},
			red: map[string]string{"src/lib.rs": rsLib("-")}, blamed: "calc::tests::adds", message: "left: -1", total: 2,
		},
	}
}

func TestSuite_realProjects_blameTheBrokenTest(t *testing.T) {
	world.Long(t, "test runners of real projects")
	for _, p := range projects() {
		t.Run(p.name, func(t *testing.T) {
			s := suiteIn(t, ModeGate, p.check)
			s.Place.Env = realEnv(t, p.needs)
			write(t, s.Place.Dir, p.empty)
			if rep := s.take(t); rep.Blocked() || !rep.Results[0].empty() {
				t.Errorf("no code yet: %v\n%s", verdicts(rep), rep.Results[0].Output)
			}
			write(t, s.Place.Dir, p.green)
			rep := s.must(t)
			expect(t, rep, "test passed")
			if got := rep.Results[0].Tests; got.Total() != p.total || got.Passed != p.total {
				t.Errorf("tests %+v, want %d\n%s", got, p.total, rep.Results[0].Output)
			}
			write(t, s.Place.Dir, p.red)
			rep = s.must(t)
			expect(t, rep, "test failed blocks")
			r := rep.Results[0]
			if !slices.Equal(names(r.Blamed), []string{p.blamed}) || !strings.Contains(r.Blamed[0].Message, p.message) {
				t.Errorf("blamed %+v\n%s", r.Blamed, r.Output)
			}
			if f := rep.Feedback(); !strings.Contains(f, p.message) || !strings.Contains(f, "\n    "+p.check.Command+"\n") || strings.Contains(f, `"Action"`) {
				t.Errorf("feedback:\n%s", f)
			}
		})
	}
}

// realEnv returns an environment in which a tool keeps its files in the test's
// folder. It skips the test if the tool is missing.
func realEnv(t *testing.T, program string) []string {
	t.Helper()
	if testing.Short() && program != "go" {
		t.Skipf("long: a project that really uses %s", program)
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("no %s here", program)
	}
	home := t.TempDir()
	env := []string{"GORACE=atexit_sleep_ms=0", "HOME=" + home, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "npm_config_update_notifier=false"}
	for _, name := range []string{"PATH", "GOCACHE", "RUSTUP_HOME", "PYENV_ROOT"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if dir, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		env = append(env, "GOCACHE="+filepath.Join(dir, "go-build"))
	}
	if dir, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		env = append(env, "RUSTUP_HOME="+filepath.Join(dir, ".rustup"))
	}
	return env
}

func TestSuite_junitGlob_readsItsFiles(t *testing.T) {
	xml := `<testsuite><testcase classname="A" name="one"/><testcase classname="A" name="two"><failure message="boom"/></testcase></testsuite>`
	s := suiteIn(t, ModeGate, Check{Name: "test", JUnit: "out/*.xml", Command: "mkdir -p out && cp report.xml out/A.xml; exit 1"})
	write(t, s.Place.Dir, map[string]string{"report.xml": xml})
	rep := s.must(t)
	if r := rep.Results[0]; !slices.Equal(names(r.Blamed), []string{"A.two"}) || r.Tests.Passed != 1 {
		t.Errorf("result %+v", r)
	}
}
