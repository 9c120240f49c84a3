package values

import "testing"

func TestWithLists_onlyWhatGrew(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		data          bool
		want          string
	}{
		"a row more":              {"a  first\n", "a  first\nb  second\n", true, "a  first\nb  second\n"},
		"a list in data":          {`["a"]`, `["a", "b"]`, true, `["a", "b"]`},
		"another number in data":  {"total: 1\n", "total: 12\n", true, "total: 1\n"},
		"a row less":              {"a\nb\n", "b\n", true, "a\nb\n"},
		"a list in code":          {"is(x, ['a'])\nis(y, 1)\n", "is(x, ['a', 'b'])\nis(y, 2)\nnew()\n", false, "is(x, ['a', 'b'])\nis(y, 1)\n"},
		"a condition in code":     {"is(x, 1)\n", "if (z) is(x, 1)\n", false, "is(x, 1)\n"},
		"a test that is left out": {"test('a', f)\n", "test.skip('a', f)\n", false, "test('a', f)\n"},
	} {
		if got := WithLists(c.before, c.after, c.data); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
