package retest

import "testing"

func TestBareName_isThatOfTheCode(t *testing.T) {
	for report, want := range map[string]string{
		"example.com/p.TestA/b c":               "TestA",
		"p.TestA":                               "TestA",
		"tests/test_a.py::TestA::test_b[1.5-a]": "test_b",
		"test_a.py::test_b":                     "test_b",
		"test_a.T.test_b (i=1)":                 "test_b",
		"a.test.js > suite > adds two":          "adds two",
		"tests::two":                            "two",
		"adds":                                  "adds",
	} {
		if got := bareName(report); got != want {
			t.Errorf("%q: %q, want %q", report, got, want)
		}
	}
}
