package report

import (
	"slices"
	"testing"
)

// A name that is cut makes two tests one: the failure of the first then hides that of the second.
func TestParse_namesWithDashesBracketsSpacesAndColons_stayWhole(t *testing.T) {
	for name, c := range map[string]struct {
		format Format
		output string
		want   []string
	}{
		"pytest": {Pytest, "FAILED tests/test_a.py::test_a[hello - 1] - assert 1 == 2\n" +
			"FAILED tests/test_a.py::test_a[hello - 2] - assert [2] - [1] == []\n" +
			"FAILED tests/test_a.py::test_a[a::b: c]\n" +
			"FAILED tests/test_a.py::TestB::test_c - assert x[0] - 1\n" +
			"===== 4 failed in 0.02s =====\n",
			[]string{"tests/test_a.py::TestB::test_c", "tests/test_a.py::test_a[a::b: c]",
				"tests/test_a.py::test_a[hello - 1]", "tests/test_a.py::test_a[hello - 2]"}},
		"pytest, the section has the whole name": {Pytest, "_______ test_a[x] - [y] _______\nE   boom\n" +
			"==== short test summary info ====\nFAILED test_a.py::test_a[x] - [y] - boom\n==== 1 failed in 0.02s ====\n",
			[]string{"test_a.py::test_a[x] - [y]"}},
		"go": {Go, "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/a_-_[1]:_b_(c) (0.00s)\n        boom\n" +
			"    --- FAIL: TestA/a_-_[2]:_b_(c) (0.00s)\n        boom\nFAIL\nFAIL\tx\t0.1s\n",
			[]string{"x.TestA/a_-_[1]:_b_(c)", "x.TestA/a_-_[2]:_b_(c)"}},
		"unittest": {Unittest, "======\nFAIL: test_a (t.T.test_a) [m - 1] (i='a: [b]')\n------\nx\n\n" +
			"======\nFAIL: test_a (t.T.test_a) [m - 2] (i='a: [b]')\n------\nx\n\nRan 2 tests in 0.1s\n",
			[]string{"t.T.test_a [m - 1] (i='a: [b]')", "t.T.test_a [m - 2] (i='a: [b]')"}},
		"jest": {Jest, "FAIL src/my app/a.test.js (5.1 s)\n  ● adds › a - [1]: b (c)\n\n    boom\n\n" +
			"  ● adds › a - [2]: b (c)\n\n    boom\n\nTests:       2 failed, 2 total\nTest Suites: 1 failed, 1 total\n",
			[]string{"src/my app/a.test.js > adds > a - [1]: b (c)", "src/my app/a.test.js > adds > a - [2]: b (c)"}},
		"vitest": {Jest, " FAIL  a.test.ts > reads > a - [ 1 ]\nboom\n FAIL  a.test.ts > reads > a - [ 2 ]\nboom\n" +
			" FAIL  b.test.ts [ b.test.ts ]\nboom\n Test Files  2 failed (2)\n",
			[]string{"a.test.ts > reads > a - [ 1 ]", "a.test.ts > reads > a - [ 2 ]", "b.test.ts"}},
		"node": {Node, "✖ failing tests:\n\ntest at a.test.js:3:1\n✖ a - [1]: b (c) (0.5ms)\n  boom\n\n" +
			"test at a.test.js:4:1\n✖ a - [2]: b (c) (0.5ms)\n  boom\n",
			[]string{"a.test.js > a - [1]: b (c)", "a.test.js > a - [2]: b (c)"}},
		"node, the tree has the groups": {Node, "▶ adds\n  ✖ works (0.5ms)\n✖ adds (1ms)\n▶ takes\n  ✖ works (0.5ms)\n✖ takes (1ms)\n✖ works (1ms)\n✖ works (1ms)\n" +
			"ℹ pass 0\nℹ fail 4\n\n✖ failing tests:\n\ntest at a.test.js:3:1\n✖ works (0.5ms)\n  boom\n\n" +
			"test at a.test.js:4:1\n✖ works (0.5ms)\n  boom\n\ntest at a.test.js:9:1\n✖ works (1ms)\n  boom\n\ntest at b.test.js:9:1\n✖ works (1ms)\n  boom\n",
			[]string{"adds > works", "takes > works", "works", "works (b.test.js)"}},
		"script": {Script, "ok a::fine\nFAIL a::b[x - 1]: boom\nFAIL a::b[x - 2]: boom\n", []string{"a::b[x - 1]", "a::b[x - 2]"}},
		"cargo": {Cargo, "running 3 tests\ntest t::case - [1]: b ... FAILED\ntest t::case - [2]: b ... FAILED\n" +
			"test t::later ... ignored, until it ... works\n\nfailures:\n\n---- t::case - [1]: b stdout ----\nboom\n\n" +
			"failures:\n    t::case - [1]: b\n\ntest result: FAILED. 0 passed; 2 failed; 1 ignored; 0 measured\n",
			[]string{"t::case - [1]: b", "t::case - [2]: b"}},
		"tap": {TAP, "1..3\nnot ok 1 - a - [1]: b (c)\nnot ok 2 - a - [2]: b (c)\nok 3 - fine\n",
			[]string{"a - [1]: b (c)", "a - [2]: b (c)"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range parse(c.format, c.output).FailedTests() {
				got = append(got, f.Name)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("failed tests\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestScript_okAndFail_nameTheTests(t *testing.T) {
	s := parse(Auto, "ok   t_usage\n+ cmp a b\nb differs\nFAIL t_copy: 1\nok   tests/a.sh\nok then, that was it\nFAIL\nFAIL: all\n")
	if !s.Known || s.Passed != 2 || s.Failed != 1 || s.FailedTests()[0].Name != "t_copy" || s.FailedTests()[0].Message != "+ cmp a b\nb differs" {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"FAIL a.test.js\nFAIL b\n", "ok 1 - a\n", "ok  \texample.com/p\t0.1s\n", "ok - a b\n", "ok I am done\n"} {
		if s := parse(Script, text); s.Known {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestParse_noTestRan_isSaid(t *testing.T) {
	for text, want := range map[string]bool{
		"\n  0 passing (1ms)\n":                               true,
		"  0 passing (1ms)\n\n  5 passing (2ms)\n":            false,
		"Finished in 0.001 seconds\n0 examples, 0 failures\n": true,
		"[INFO] Tests run: 0, Failures: 0, Errors: 0\n":       true,
		"[INFO] Tests run: 12, Failures: 0, Errors: 0\n":      false,
		"Executed 0 tests, with 0 failures\n":                 true,
		"ok | 0 passed | 0 failed (1ms)\n":                    true,
		"No test files found, exiting with code 0\n":          true,
		"No tests found, exiting with code 0\n":               true,
		"No tests were found!!!\n":                            true,
		"No tests executed!\n":                                true,
		"> Task :test NO-SOURCE\nBUILD SUCCESSFUL\n":          true,
		" 0 pass\n 0 fail\n":                                  true,
		" 3 pass\n 0 fail\n":                                  false,
		"0 runs, 0 assertions, 0 failures\n":                  true,
		"============ no tests ran in 0.01s ============\n":   true,
		"ok\n":                     false,
		"No tests of mine today\n": false,
	} {
		if got := parse(Auto, text).None != ""; got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
