package values

import "testing"

func TestGrown_textWithAllItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          bool
	}{
		"a line more":    {"a  first\n", "a  first\nb  second\n", true},
		"a list":         {`["a"]`, `["a", "b"]`, true},
		"another number": {"total: 1\n", "total: 12\n", false},
		"a line less":    {"a\nb\n", "b\n", false},
	} {
		if got := Grown(c.before, c.after); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
