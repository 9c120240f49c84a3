package values_test

import (
	"strings"
	"testing"

	"ralph/runner/audit/values"
)

func TestLost_onlyManyValues(t *testing.T) {
	const three = "if got := f(\"a-b\"); got != \"1-2\" {\n\tt.Errorf(\"got %q\", got)\n}\nf(\"x${nope}y\") == \"xy\"\nf(\"x${nope\") == 7\nt.Error(\"first\", \"second\", \"third\", \"fourth\")\n"
	for name, c := range map[string]struct{ after, want string }{
		"all are rows":      {"{\"a-b\", \"1-2\"}, {\"x${nope}y\", \"xy\"}, {'x${nope', 7}, %v", ""},
		"messages are gone": {"{\"a-b\", \"1-2\"}, {\"x${nope}y\", \"xy\"}, {'x${nope', 7}", ""},
		"one row of them":   {"{\"a-b\", \"1-2\"}", "7 x${nope x${nope}y xy"},
		"one value lost":    {"{\"a-b\", \"1-2\"}, {\"x${nope}y\", \"xy\"}, {'x${nope', 8}", ""},
	} {
		if got := strings.Join(values.Lost(three, c.after), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
