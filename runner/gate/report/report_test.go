package report

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parse reads a whole output.
func parse(f Format, output string) Summary {
	s := NewStream(f, io.Discard)
	_, _ = s.Write([]byte(output))
	return s.Close()
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// failures maps failed tests to a piece of their messages.
type failures map[string]string

type want struct {
	failed          failures
	passed, skipped int
}

func check(t *testing.T, s Summary, w want) {
	t.Helper()
	if !s.Known {
		t.Error("format not recognised")
	}
	names, got := []string{}, []string{}
	for name := range w.failed {
		names = append(names, name)
	}
	for _, f := range s.FailedTests() {
		got = append(got, f.Name)
		if piece := w.failed[f.Name]; !strings.Contains(f.Message, piece) || f.Message == "" && piece != "" {
			t.Errorf("message of %q lacks %q:\n%s", f.Name, piece, f.Message)
		}
	}
	if diff := cmp.Diff(sorted(names), sorted(got)); diff != "" {
		t.Errorf("failed tests (-want +got):\n%s", diff)
	}
	if s.Passed != w.passed || s.Skipped != w.skipped || s.Failed != len(w.failed) {
		t.Errorf("%d passed, %d failed, %d skipped; want %d, %d, %d", s.Passed, s.Failed, s.Skipped, w.passed, len(w.failed), w.skipped)
	}
}

// pytestFailed are the failures of the recorded pytest runs.
func pytestFailed() failures {
	return failures{
		"tests/test_a.py::test_adds":                    "assert -1 == 3",
		"tests/test_a.py::TestC::test_one[x-1]":         "ValueError: boom",
		`tests/test_a.py::TestC::test_one[\xe9::[y]-3]`: "ValueError: boom",
		"tests/test_a.py::test_setup":                   "no base",
	}
}

// broken adds the file that cannot be imported.
func broken(f failures) failures {
	f["tests/test_b.py"] = "No module named 'nope'"
	return f
}

func outputs() []struct {
	file   string
	format Format
	want   want
} {
	goFailed := failures{
		"example.com/g/a.TestAdd/one": "a_test.go:3: Add(1,2) = -1, want 3",
		"example.com/g/b":             `b/b.go:2:23: cannot use "x"`,
		"example.com/g/d.TestPanic":   "panic: assignment to entry in nil map",
	}
	return []struct {
		file   string
		format Format
		want   want
	}{
		{"go-marked.txt", Go, want{goFailed, 2, 1}},
		{"go.txt", Go, want{goFailed, 0, 0}},
		{"go-v.txt", Go, want{failures{"example.com/g/a.TestAdd/one": "a_test.go:3: Add(1,2) = -1, want 3"}, 2, 1}},
		{"pytest.txt", Pytest, want{broken(pytestFailed()), 3, 2}}, // an expected failure is skipped
		{"pytest-q.txt", Pytest, want{pytestFailed(), 3, 2}},
		{"pytest-v.txt", Pytest, want{pytestFailed(), 3, 2}},
		{"pytest-broken.txt", Pytest, want{broken(failures{}), 0, 0}},
		{"unittest.txt", Unittest, want{failures{
			"test_a.T.test_err":                  "ValueError: boom",
			"test_a.T.test_adds":                 "-1 != 3",
			"test_a.T.test_sub (i=1)":            "AssertionError: 1 == 1",
			"unittest.loader._FailedTest.test_b": "No module named 'nope'",
		}, 1, 1}},
		{"jest.txt", Jest, want{failures{
			"jt/a.test.js > add > two numbers": "Expected: 3",
			"jt/b.test.js":                     "Cannot find module './missing'",
		}, 3, 2}},
		{"vitest.txt", Jest, want{failures{
			"a.test.js > add > two numbers": "expected -1 to be 3",
			"b.test.js":                     "Cannot find module './missing'",
		}, 3, 2}},
		{"node-spec.txt", Node, want{failures{
			"adds":               "-1 !== 3",
			"suite > inner bad":  "boom # hash",
			"parent > bad child": "assert.ok(false)",
			"/p/n/b.test.js":     "test failed",
		}, 2, 2}},
		{"cargo.txt", Cargo, want{failures{
			"cc::tests::adds":                   "assertion `left == right` failed: sum",
			"cc::tests::panics":                 "test did not panic as expected",
			"cc::tests::result":                 `Error: "no"`,
			"doc cc: src/lib.rs - add (line 1)": "left: -1",
		}, 2, 1}},
		{"cargo-q.txt", Cargo, want{failures{"tests::two": "assertion `left == right` failed: no", "bad": "left: 1"}, 2, 1}},
		{"node.tap", TAP, want{failures{
			"adds":               "-1 !== 3",
			"suite > inner bad":  "boom # hash",
			"parent > bad child": "assert.ok(false)",
			"/p/n/b.test.js":     "Cannot find module './nope'",
		}, 2, 2}},
	}
}

func TestParse_realOutput_namesEachFailureWithItsMessage(t *testing.T) {
	for _, o := range outputs() {
		t.Run(o.file, func(t *testing.T) { check(t, parse(o.format, read(t, o.file)), o.want) })
	}
}

func TestParse_auto_detectsTheFormat(t *testing.T) {
	for _, o := range outputs() {
		t.Run(o.file, func(t *testing.T) { check(t, parse(Auto, read(t, o.file)), o.want) })
	}
}

func TestParse_twoRunnersInOneOutput_findsBoth(t *testing.T) {
	s := parse(Auto, read(t, "go-v.txt")+read(t, "unittest.txt"))
	if s.Failed != 5 {
		t.Errorf("%d failed: %+v", s.Failed, s.FailedTests())
	}
}

func TestParse_ordinaryOutput_findsNoTest(t *testing.T) {
	for _, text := range []string{
		"", "ok\n", "not ok\n", "FAIL\n", "ok then\nnot ok with me\n", "test the water ... maybe\n", "FAILED to connect\nERROR something\n",
		"==== done ====\n", "Tests are fun\n", "● bullet\n", "{\"Action\":\"output\"}\n", "make: *** [Makefile:3: test] Error 2\n",
		"# heading\nFAIL: no\n", "FAIL \nPASS \n", "FAIL\t\n", "=== RUN\n--- FAIL: \n", "---- ----\n", "\x1b", "\x1b[", "\x1b]0;title", "# Subtest: \n",
	} {
		if s := parse(Auto, text); s.Known || s.Total() != 0 || s.Nothing != "" {
			t.Errorf("parse(%q) = %+v", text, s)
		}
	}
}

func TestReadFiles_realReports_nameEachFailureWithItsMessage(t *testing.T) {
	for _, c := range []struct {
		file string
		read func(io.Reader) (Summary, error)
		want want
	}{
		{"node-junit.xml", ReadJUnit, want{failures{"test.adds": "-1 !== 3", "test.inner bad": "boom", "test.bad child": "falsy", "test./p/n/b.test.js": "test failed"}, 2, 2}},
		{"pytest-junit.xml", ReadJUnit, want{broken(pytestFailed()), 3, 2}},
		{"surefire.xml", ReadJUnit, want{failures{"com.example.AppTest.adds": "expected: <3>", "com.example.AppTest.bare": "only a message"}, 1, 0}},
	} {
		t.Run(c.file, func(t *testing.T) {
			s, err := c.read(strings.NewReader(read(t, c.file)))
			if err != nil {
				t.Fatal(err)
			}
			check(t, s, c.want)
		})
	}
}

func TestReadFiles_noReport_isAnError(t *testing.T) {
	for _, text := range []string{"", "<", "<html></html>", "{", "<testsuite><testcase"} {
		if _, err := ReadJUnit(strings.NewReader(text)); err == nil {
			t.Errorf("ReadJUnit(%q): no error", text)
		}
	}
}

func TestStream_goMarked_printsReadableText(t *testing.T) {
	var text strings.Builder
	s := NewStream(Auto, &text)
	for chunk := read(t, "go-marked.txt"); chunk != ""; { // in odd pieces
		n := min(7, len(chunk))
		_, _ = s.Write([]byte(chunk[:n]))
		chunk = chunk[n:]
	}
	s.Close()
	for _, want := range []string{"# example.com/g/b [example.com/g/b.test]\n", "FAIL\texample.com/g/a\t0.045s\n", "    a_test.go:3: Add(1,2) = -1, want 3\n--- FAIL: TestAdd/one (0.00s)\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, text.String())
		}
	}
	for _, not := range []string{"\x16", "TestOK", "=== RUN"} {
		if strings.Contains(text.String(), not) {
			t.Errorf("text has %q:\n%s", not, text.String())
		}
	}
}

func TestParse_goTestThatEndsItsPackage_hasFailed(t *testing.T) {
	s := parse(Auto, "\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== NAME  \n\x16=== RUN   TestB\nno\n--- FAIL: TestC (0.00s)\nexit status 3\n\x16FAIL\tx\t0.1s\nFAIL\n")
	check(t, s, want{failures{"x.TestB": "no"}, 1, 0})
}

func TestParse_goTestThatPrintsTheEndOfAPackage_belongsToItsOwn(t *testing.T) {
	s := parse(Auto, "\x16=== RUN   TestA\nok  \tother\t0.1s\nFAIL\tother\t0.1s\n--- FAIL: TestC (0.00s)\n\x16--- FAIL: TestA (0.00s)\n\x16=== NAME  \n\x16FAIL\n\x16FAIL\tx\t0.1s\n"+
		"\x16=== RUN   TestB\n\x16--- PASS: TestB (0.00s)\n\x16=== NAME  \n\x16PASS\nok  \ty\t0.1s\n")
	check(t, s, want{failures{"x.TestA": "ok  \tother\t0.1s\nFAIL\tother\t0.1s\n--- FAIL: TestC (0.00s)"}, 1, 0})
}

func TestStream_hugeOutput_staysBounded(t *testing.T) {
	var kept Excerpt
	kept.Head, kept.Tail = 100, 100
	s := NewStream(Auto, &kept)
	_, _ = s.Write([]byte(strings.Repeat("x", 3*maxLine)))
	_, _ = s.Write([]byte("\n--- FAIL: TestA (0.00s)\n"))
	for i := range 20_000 {
		fmt.Fprintf(s, "    line %d\n", i)
	}
	fmt.Fprint(s, "FAIL\texample.com/x\t0.1s\n")
	sum := s.Close()
	check(t, sum, want{failures{"example.com/x.TestA": "line 19999"}, 0, 0})
	if m := sum.Tests[0].Message; len(m) > maxMessage+100 || !strings.HasPrefix(m, "    line 0\n") {
		t.Errorf("message of %d bytes: %.60q", len(m), m)
	}
	if n := len(kept.String()); n > 300 {
		t.Errorf("%d bytes of text kept", n)
	}
}

func TestSummary_manyTests_countsAllAndKeepsFailures(t *testing.T) {
	c := newCollector()
	for i := range maxTests + 50 {
		c.add(Test{Name: fmt.Sprint(i), Status: Passed})
	}
	for i := range maxTests + 7 {
		c.add(Test{Name: fmt.Sprint("f", i), Status: Failed})
	}
	if s := c.summary(); s.Passed != maxTests+50 || s.Failed != maxTests+7 || len(s.FailedTests()) != maxTests || len(s.Tests) != 2*maxTests {
		t.Errorf("%d passed, %d failed, %d named", s.Passed, s.Failed, len(s.Tests))
	}
}

func TestMerge_textAndFileOfOneRun_countsEachTestOnce(t *testing.T) {
	for _, name := range []string{"pytest-junit.xml", "pytest-junit2.xml"} { // both families of names
		file, err := ReadJUnit(strings.NewReader(read(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		check(t, parse(Pytest, read(t, "pytest.txt")).Merge(file), want{broken(pytestFailed()), 3, 2})
	}
}

func TestParse_nothingToRun_keepsTheRunnersLine(t *testing.T) {
	for _, text := range []string{
		"go: warning: \"./...\" matched no packages\nno packages to test\n",
		"pattern ./...: directory prefix . does not contain main module or its selected dependencies\n",
		"# ./...\npattern ./...: directory prefix . does not contain main module or its selected dependencies\nFAIL\t./... [setup failed]\nFAIL\n",
		"error: could not find `Cargo.toml` in `/p/e` or any parent directory\n",
		"npm error code ENOENT\nnpm error enoent Could not read package.json: Error: ENOENT: no such file\n",
		"npm error Missing script: \"test\"\n",
		"No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n",
		"\x1b[31mNo test files found, exiting with code 1\n\x1b[39m\n",
		"============ no tests ran in 0.01s =============\n",
		"Ran 0 tests in 0.000s\n\nNO TESTS RAN\n",
		"make: *** No targets specified and no makefile found.  Stop.\n",
	} {
		if s := parse(Auto, text); s.Nothing == "" || s.Total() != 0 {
			t.Errorf("parse(%q) = %+v", text, s)
		}
	}
	for _, text := range []string{"npm error Missing script: \"tset\"\n", "make: *** No rule to make target 'tset'.  Stop.\n", "sh: 1: pytset: not found\n"} {
		if s := parse(Auto, text); s.Nothing != "" {
			t.Errorf("a typing error is taken for an empty project: %q", s.Nothing)
		}
	}
}

func TestExcerpt_longOutput_keepsBothEndsInBoundedMemory(t *testing.T) {
	e := Excerpt{Head: 8 << 10, Tail: 24 << 10}
	for i := range 200_000 {
		e.WriteLine(fmt.Sprintf("line %06d", i))
	}
	text := e.String()
	if len(text) > e.Head+e.Tail+100 || cap(e.tail) > 8*e.Tail {
		t.Errorf("%d bytes kept, %d in memory", len(text), cap(e.tail))
	}
	if !strings.HasPrefix(text, "line 000000\n") || !strings.HasSuffix(text, "line 199999") || !strings.Contains(text, "bytes left out") {
		t.Errorf("excerpt %.40q ... %.40q", text, text[len(text)-40:])
	}
}

func TestExcerpt_shortOutput_isWhole(t *testing.T) {
	e := Excerpt{Head: 100, Tail: 50}
	want := strings.Repeat("x", 100) + strings.Repeat("y", 50)
	_, _ = e.Write([]byte(want))
	if got := e.String(); got != want {
		t.Errorf("%d of %d bytes", len(got), len(want))
	}
}

func FuzzParse_anyOutput_doesNotPanic(f *testing.F) {
	for _, o := range outputs() {
		data, err := os.ReadFile("testdata/" + o.file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("ℹ tests 2\nℹ pass ") // cut off
	f.Fuzz(func(t *testing.T, text string) {
		s := parse(Auto, text)
		if !s.Known && s.Total() > 0 {
			t.Errorf("tests of an unknown format: %+v", s)
		}
		for _, test := range s.Tests {
			if len(test.Message) > maxMessage*3+200 {
				t.Errorf("message of %d bytes", len(test.Message))
			}
		}
	})
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestParse_lastLineOfPytest_withAndWithoutBars(t *testing.T) {
	for line, want := range map[string][3]int{ // known, passed, skipped
		"2 failed, 3 passed in 0.12s":                                          {1, 3, 0},
		"1 failed, 2 passed in 65.12s (0:01:05)":                               {1, 2, 0},
		"1 failed, 2 passed, 3 subtests passed in 0.12s":                       {1, 2, 0},
		"==== 1 failed, 2 passed, 1 snapshot updated, 4 skipped in 0.12s ====": {1, 2, 4},
		"5 errors in 3 files":                                                  {},
		"3 warnings in 2 modules":                                              {},
		"12 passed in 3 suites":                                                {},
	} {
		s := parse(Pytest, line+"\n")
		got := [3]int{0, s.Passed, s.Skipped}
		if s.Known {
			got[0] = 1
		}
		if got != want {
			t.Errorf("%q: known, passed, skipped %v, want %v", line, got, want)
		}
	}
}

func TestReadJUnit_pytestTestNamedLikeItsFile_keepsItsName(t *testing.T) {
	s, err := ReadJUnit(strings.NewReader(`<testsuites><testsuite><testcase classname="test_load" name="test_load" file="test_load.py"/>` +
		`<testcase classname="" name="test_b" file="test_b.py"><error message="x"/></testcase></testsuite></testsuites>`))
	if err != nil || len(s.Tests) != 2 || s.Tests[0].Name != "test_load.py::test_load" || s.Tests[1].Name != "test_b.py" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMessageLine_everyRunner_saysWhatWasExpected(t *testing.T) {
	for file, want := range map[string][]string{
		"go.txt": {"a_test.go:3: Add(1,2) = -1, want 3"}, "pytest.txt": {"assert -1 == 3", "ValueError: boom"},
		"unittest.txt": {"AssertionError: -1 != 3", "ValueError: boom"}, "jest.txt": {"Expected: 3 Received: -1", "Cannot find module './missing' from 'b.test.js'"},
		"vitest.txt":    {"AssertionError: expected -1 to be 3 // Object.is equality"},
		"node-spec.txt": {"AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: -1 !== 3"},
		"node.tap":      {"Expected values to be strictly equal: -1 !== 3", "boom # hash"},
		"cargo.txt":     {"assertion `left == right` failed: sum left: -1 right: 3", `"no"`},
	} {
		var got []string
		for _, test := range parse(Auto, read(t, file)).FailedTests() {
			got = append(got, MessageLine(test.Message))
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s: %q is not in %q", file, line, got)
			}
		}
	}
	for message, want := range map[string]string{
		"    x_test.go:12: \n        \tError Trace:\t/p/x_test.go:12\n        \tError:      \tNot equal: \n        \t            \texpected: 3\n        \t            \tactual  : -1\n        \tTest:       \tTestAdd\n": "Not equal: expected: 3 actual  : -1",
		"expected: <3> but was: <-1>\n\tat x":                             "expected: <3> but was: <-1>",
		"thread 'a' panicked at src/lib.rs:5:9:\nno base\nnote: run with": "no base",
		"": "", "location: 'x'\n": "location: 'x'",
	} {
		if got := MessageLine(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func TestErrorLine_programThatIsMissing_isNamed(t *testing.T) {
	for output, want := range map[string]string{
		"pytset -q\nmake: pytset: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n": "make: pytset: No such file or directory",
		"sh: 1: pytset: not found\nmake: *** [Makefile:2: test] Error 127\n":                           "sh: 1: pytset: not found",
		"rm: x: No such file or directory\nFAIL: TestA\nmake: *** [Makefile:2: test] Error 1\n":        "FAIL: TestA",
	} {
		if got := ErrorLine(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
