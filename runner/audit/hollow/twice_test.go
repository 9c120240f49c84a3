package hollow_test

import (
	"testing"

	"ralph/runner/audit/hollow"
)

func TestTwice(t *testing.T) {
	const one, other = "def test_a():\n    assert f() == 1\n", "def test_b():\n    pass\n"
	const method = "class T:\n    def test_a(self):\n        assert f() == 1\n"
	for _, c := range []struct {
		name, path, before, after string
		want                      bool
	}{
		{"hidden", "test_x.py", one, one + other + one, true},
		{"added", "test_x.py", one, one + other, false},
		{"was there before", "test_x.py", one + one, one + one, false},
		{"in a class", "test_x.py", one, one + "class T:\n    def test_a(self):\n        pass\n", false},
		{"in a class, hidden", "test_x.py", method, method + method[8:], true},
		{"in two classes", "test_x.py", method, method + "class U:\n" + method[8:], false},
		{"another language", "x.rb", one, one + one, false},
	} {
		if got := hollow.Twice(c.path, c.before, c.after); (got != "") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
