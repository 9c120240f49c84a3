package report

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// Where a runner names every test, the tally does, too.
func TestTally_everyFormat_countsWhatRan(t *testing.T) {
	text := func(f Format) func(string) (Summary, error) {
		return func(s string) (Summary, error) { return parse(f, s), nil }
	}
	file := func(read func(io.Reader) (Summary, error)) func(string) (Summary, error) {
		return func(s string) (Summary, error) { return read(strings.NewReader(s)) }
	}
	for _, c := range []struct {
		file string
		read func(string) (Summary, error)
		ran  int
		name string // of a test that passed; empty: the format does not name it
	}{
		{"go-marked.txt", text(Go), 5, "example.com/g/a.TestOK"},
		{"go-v.txt", text(Go), 3, "example.com/g/a.TestOK"},
		{"pytest-q.txt", text(Pytest), 7, ""},
		{"pytest-junit.xml", file(ReadJUnit), 8, "tests/test_a.py::test_zero"},
		{"unittest.txt", text(Unittest), 5, ""},
		{"node-spec.txt", text(Node), 6, "suite > inner ok"},
		{"node.tap", text(TAP), 6, "suite > inner ok"},
		{"cargo.txt", text(Cargo), 6, "cc::tests::zero"},
	} {
		s, err := c.read(read(t, c.file))
		got := s.Tally()
		if err != nil || got.Ran != c.ran || (c.name == "") != (got.Names == nil) || c.name != "" && !slices.Contains(got.Names, c.name) {
			t.Errorf("%s: %v, ran %d, want %d with %q in %q", c.file, err, got.Ran, c.ran, c.name, got.Names)
		}
	}
}

func TestTally_passedTestsOfTextReports_haveNames(t *testing.T) {
	node := "▶ suite\n  ✔ inner (0.1ms)\n  ▶ deep\n    ✔ down (0.1ms)\n  ✔ deep (0.3ms)\n✔ suite (0.4ms)\n✔ alone (1.2ms)\nℹ tests 3\nℹ pass 3\nℹ fail 0\n"
	python := "test_a (m.T.test_a) ... ok\ntest_b (m.T) ... ok\ntest_c (m.T.test_c) ... skipped 'no'\n\n------\nRan 3 tests in 0.001s\n\nOK (skipped=1)\n"
	tap := "TAP version 13\n# Subtest: suite\n    # Subtest: inner\n    ok 1 - inner\n    # Subtest: deep\n        # Subtest: down\n        ok 1 - down\n        1..1\n" +
		"    ok 2 - deep\n      ---\n      type: 'suite'\n      ...\n    1..2\nok 1 - suite\n  ---\n  type: 'suite'\n  ...\n" +
		"# Subtest: none\nok 2 - none\n  ---\n  type: 'suite'\n  ...\n# Subtest: own\n    # Subtest: child\n    ok 1 - child\n    1..1\nok 3 - own\n# Subtest: alone\nok 4 - alone\n1..4\n"
	for want, s := range map[string]Summary{
		"alone|own > child|suite > deep > down|suite > inner": parse(TAP, tap),
		"alone|suite > deep > down|suite > inner":             parse(Auto, node),
		"m.T.test_a|m.T.test_b":                               parse(Auto, python),
		"":                                                    parse(Auto, "✔ built (3ms)\n✔ no problems (1ms)\n"),
	} {
		if got := strings.Join(s.Tally().Names, "|"); got != want || (want == "") == s.Known {
			t.Errorf("names %q, want %q (known %v)", got, want, s.Known)
		}
	}
}

func TestTallyLoss_namesAFew(t *testing.T) {
	tally := func(names ...string) Tally { return Tally{len(names), names} }
	summary := func(names ...string) Summary {
		s := Summary{Known: true, Passed: len(names)}
		for _, name := range names {
			s.Tests = append(s.Tests, Test{Name: name, Status: Passed})
		}
		return s
	}
	for want, c := range map[string]struct {
		was   Tally
		later Summary
	}{
		"": {tally("a", "b"), summary("c", "d")},
		"check t: 1 test ran before, and its output names none now; gone: a":  {tally("a"), Summary{}},
		"check t: 3 tests ran before, 1 runs now; gone: a, c":                 {tally("a", "b", "c"), summary("b")},
		"check t: 6 tests ran before, 0 run now; gone: a, b, c, d and 2 more": {tally("a", "b", "c", "d", "e", "f"), summary()},
		"check t: 9 tests ran before, 2 run now":                              {Tally{Ran: 9}, summary("a", "b")},
		"check t: 2 tests ran before, 1 runs now":                             {tally("a", "b"), Summary{Known: true, Passed: 1, Skipped: 1}},
	} {
		l, fewer := c.was.Loss("t", c.later)
		if !fewer && want != "" || fewer && l.String() != want {
			t.Errorf("%v %q, want %q", fewer, l, want)
		}
	}
}

// The numbers of TAP may be left out.
func TestParse_resultsWithoutNumbers_areTests(t *testing.T) {
	s := parse(Auto, "ok - set and get\nnot ok - list is sorted: want 'a', got 'b'\nnot ok - later # TODO\nok - \n")
	if s.Passed != 1 || s.Failed != 1 || s.Skipped != 1 || s.FailedTests()[0].Name != "list is sorted: want 'a', got 'b'" {
		t.Errorf("%+v", s)
	}
}

func TestTAP_withoutNumbersAndYAML_theLinesBelowAFailureAreItsMessage(t *testing.T) {
	tap := "ok - add\nnot ok - open\n    want: 2. [ ] bake bread\n    got:  1. [x] buy milk\nok - rm\n    not this\n1 failed\n"
	s := parse(TAP, tap)
	if s.Total() != 3 || len(s.Tests) != 3 || s.Tests[1].Message != "    want: 2. [ ] bake bread\n    got:  1. [x] buy milk" {
		t.Errorf("%+v", s.Tests)
	}
}

func TestTallyLoss_asManyTestsButOneIsSkippedNow_isALoss(t *testing.T) {
	before := Tally{Ran: 2, Names: []string{"a", "b"}}
	later := Summary{Passed: 2, Skipped: 1, Known: true, Tests: []Test{{Name: "a", Status: Passed}, {Name: "b", Status: Skipped}, {Name: "c", Status: Passed}}}
	if l, lost := before.Loss("test", later); !lost || l.String() != "check test: ran before and skipped now: b" {
		t.Errorf("%v %s", lost, l)
	}
	later.Tests[1].Name = "d"
	if l, lost := before.Loss("test", later); lost {
		t.Errorf("%s", l)
	}
}

// cargo test -- --show-output prints what passed tests have written, too.
func TestCargo_outputOfPassedTests_isNoFailure(t *testing.T) {
	const quiet = "\nrunning 2 tests\n..\n"
	const long = "\nrunning 2 tests\ntest tests::one ... ok\ntest tests::two ... FAILED\n"
	const passed = "\nsuccesses:\n\n---- tests::one stdout ----\nhello\n\n\nsuccesses:\n    tests::one\n"
	const failed = "\nfailures:\n\n---- tests::two stdout ----\nno\n\n\nfailures:\n    tests::two\n"
	for out, want := range map[string]string{
		quiet + passed + "\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured\n":              "",
		quiet + passed + failed + "\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured\n": "tests::two",
		long + passed + failed + "\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured\n":  "tests::two",
	} {
		var got []string
		s := parse(Cargo, out)
		for _, f := range s.FailedTests() {
			got = append(got, f.Name)
		}
		if strings.Join(got, "|") != want || s.Tally().Ran != 2 {
			t.Errorf("%q failed of %d, want %q", got, s.Tally().Ran, want)
		}
	}
}

// What turned green is not gone, however little a report says about tests that pass.
func TestTallyLoss_reportThatNamesOnlyFailures_losesNothingOnceTheyPass(t *testing.T) {
	const goFails = "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/p\t0.002s\nFAIL\n"
	const bats = "1..2\nok 1 one\nok 2 two\n"
	const summary = "=========================== short test summary info ============================\n"
	const rule = "======================================================================\n"
	subtests := ""
	for _, i := range []string{"0", "1", "2"} {
		subtests += rule + "FAIL: test_s (m.T.test_s) (i=" + i + ")\n----\nAssertionError\n\n"
	}
	for name, c := range map[string]struct{ red, green string }{
		"go":                     {goFails, "ok  \texample.com/p\t0.002s\n"},
		"go, one still fails":    {goFails, strings.Replace(goFails, "TestB", "TestA", 1)},
		"go, twice":              {goFails + "ok  \texample.com/p\t0.02s\n", "ok  \texample.com/p\t0.002s\nok  \texample.com/p\t0.02s\n"},
		"go, then TAP":           {goFails + bats, "ok  \texample.com/p\t0.002s\n" + bats},
		"pytest -qq":             {summary + "FAILED test_a.py::test_f - assert 0\nFAILED test_a.py::test_g - assert 0\n", "..                  [100%]\n"},
		"pytest -qq, then TAP":   {summary + "FAILED test_a.py::test_f - assert 0\n" + bats, ".                   [100%]\n" + bats},
		"pytest, cleanup":        {"____ ERROR at teardown of test_t ____\nOSError\n" + summary + "ERROR test_a.py::test_t - OSError\n1 passed, 1 error in 0.10s\n", "1 passed in 0.10s\n"},
		"pytest and unittest":    {summary + "FAILED test_a.py::test_f - no\n1 failed, 1 passed in 0.10s\nRan 3 tests in 0.001s\n\nOK\n", "2 passed in 0.10s\nRan 3 tests in 0.001s\n\nOK\n"},
		"unittest, subtests":     {subtests + "Ran 1 test in 0.001s\n\nFAILED (failures=3)\n", "Ran 1 test in 0.001s\n\nOK\n"},
		"unittest twice":         {rule + "FAIL: test_a (m.T.test_a)\n----\nno\n\nRan 1 test in 0.001s\n\nFAILED (failures=1)\nRan 2 tests in 0.001s\n\nOK\n", "Ran 1 test in 0.001s\n\nOK\nRan 2 tests in 0.001s\n\nOK\n"},
		"jest, only the failing": {"FAIL a.test.js\n  ● one\n\n    no\n\n", ""},
		"jest, cleanup":          {"FAIL a.test.js\n  ● Test suite failed to run\n\n    no\n\nTest Suites: 1 failed, 1 total\nTests:       2 passed, 2 total\n", "PASS a.test.js\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n"},
		"node, cleanup":          {"ℹ tests 1\nℹ pass 1\nℹ fail 0\n\n✖ failing tests:\n\ntest at a.test.js:2:1\n✖ suite (2.4ms)\n  Error: cleanup\n", "ℹ tests 1\nℹ pass 1\nℹ fail 0\n"},
		"cargo, only failures":   {"test tests::one ... FAILED\n", ""},
		"TAP, only failures":     {"not ok 1 - one\nnot ok 2 - two\n", ""},
	} {
		red, green := parse(Auto, c.red), parse(Auto, c.green)
		if len(red.FailedTests()) == 0 {
			t.Errorf("%s: no failure was read", name)
		}
		if l, lost := red.Tally().Loss("test", green); lost {
			t.Errorf("%s: %s", name, l)
		}
	}
}

// Of a runner that names packages, a package that is gone is missed, and so is a test where all are named.
func TestTallyLoss_whatHadItsPlaceInTheReport_isMissed(t *testing.T) {
	const quiet = "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/p\t0.002s\n"
	const long = "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/p\t0.002s\n"
	for want, c := range map[string]struct{ before, after string }{
		"check test: 2 tests ran before, 1 runs now; gone: example.com/p":       {quiet + "ok  \texample.com/q\t0.002s\n", "ok  \texample.com/q\t0.002s\n"},
		"check test: 2 tests ran before, 1 runs now; gone: example.com/p.TestB": {long, "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/p\t0.002s\n"},
		"check test: 3 tests ran before, 2 run now":                             {"1 failed, 2 passed in 0.10s\nFAILED test_a.py::test_f - no\n", "2 passed in 0.10s\n"},
		"check test: 2 tests ran before, 1 runs now; gone: two":                 {"1..2\nnot ok 1 one\nnot ok 2 two\n", "1..1\nok 1 one\n"},
	} {
		if l, _ := parse(Auto, c.before).Tally().Loss("test", parse(Auto, c.after)); l.String() != want {
			t.Errorf("%s, want %s", l, want)
		}
	}
}
