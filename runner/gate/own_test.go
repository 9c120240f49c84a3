package gate

import "testing"

func TestOwn_testOfTheTask_byItsTextOrByTheTurn(t *testing.T) {
	in := func(file, name string) Own { return Own{Task: "1", Text: "Fix it", Tests: []TestAt{{file, name}}} }
	for _, c := range []struct {
		own  Own
		test string
		want bool
	}{
		{Own{}, "x.TestAdd", false},
		{Own{Text: "Make TestAdd pass."}, "example.com/x.TestAdd", true},
		{Own{Text: "Make TestAdd pass."}, "example.com/x.TestAdd/zero_and_one", true},
		{Own{Text: "Make TestAdd pass."}, "example.com/x.TestAddAll", false},
		{Own{Text: "Fix Add"}, "x.TestAdd", false}, // it may be about something else
		{Own{Text: "Fix `adds`"}, "a.test.js > sums > adds", true},
		{Own{Text: "It adds too slowly"}, "a.test.js > sums > adds", false},
		{Own{Text: "The test 'adds two numbers' is red"}, "a.test.js > sums > adds two numbers", true},
		{Own{Text: "tests/test_a.py::test_b[a - 1] fails"}, "tests/test_a.py::test_b[a - 1]", true},
		{Own{Text: "test_price is red: see test_median"}, "tests/test_a.py::test_price", true},
		{in("x_test.go", "TestAdd"), "example.com/x.TestAdd", true},
		{in("x_test.go", "TestAdd"), "example.com/x.TestMul", false},
		{in("calc/x_test.go", "TestAdd"), "example.com/web.TestAdd", false},
		{in("tests/test_a.py", "test_b"), "tests/test_a.py::TestC::test_b[x - 1]", true},
		{in("tests/test_a.py", "test_b"), "tests/test_z.py::test_b", false},
		{in("web/src/a.test.ts", "adds two"), "src/a.test.ts > sums > adds two", true},
		{in("web/src/a.test.ts", "adds"), "src/a.test.ts > sums > adds two", false},
		{in("test_a.py", "test_b"), "test_a.T.test_b (i='a: b')", true},
		{in("src/lib.rs", "adds"), "cc::tests::adds", true},
		{in("sums.bats", "adds two"), "adds two", true},
	} {
		if got := c.own.has(c.test); got != c.want {
			t.Errorf("%+v has %q: %v", c.own, c.test, got)
		}
	}
}
