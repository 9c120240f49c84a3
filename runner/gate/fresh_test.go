package gate

import (
	"testing"
)

func TestKnown_testThatPassedBefore_orThatNobodyNamed(t *testing.T) {
	for _, test := range []struct {
		passed, failed string
		want           bool
	}{
		{"x/calc.TestAdd", "x/calc.TestAdd", true},
		{"x/calc.TestAdd", "x/calc.TestSub", false},
		{"x/calc.TestAdd", "x/calc", true}, // the package does not build any more
		{"x/calc.TestAdd", "x/web", false},
		{"x/calc.TestAdd/zero", "x/calc.TestAdd", true},
		{"x/calc.TestAdd", "x/calc.TestAddAll", false},
		{"x/calc", "x/calc.TestSub", true}, // only the package was named
		{"t/test_a.py::test_one", "t/test_a.py::test_two", false},
		{"t/test_a.py::test_one", "t/test_a.py", true},
		{"a.test.js > sums > adds", "a.test.js > sums > subtracts", false},
		{"a.test.js > sums > adds", "a.test.js", true},
		{"t/test_a.py::test_one[a - 1]", "t/test_a.py::test_one[a - 1: b]", false},
		{"a.test.js > sums > adds", "a.test.js > sums > adds two: works", false},
		{"ok", "", false},
	} {
		green := addFresh(addFresh(nil, []string{"other"}), []string{test.passed})
		if got := passedBefore(green, test.failed); got != test.want {
			t.Errorf("%q passed, %q fails: %v", test.passed, test.failed, got)
		}
	}
}
