package hollow

import (
	"strings"
	"testing"
)

func TestSubshell_onlyACountThatIsLost(t *testing.T) {
	const script = "#!/bin/sh\nfailed=0\ncheck() {\n  f \"$1\" || failed=$((failed + 1))\n}\nls t_*.sh | while read -r t; do\n  check \"$t\"\ndone\n[ \"$failed\" -eq 0 ]\n"
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"in a function":      {script, true},
		"in the loop":        {strings.Replace(script, "  check \"$t\"\n", "  sh \"$t\" || failed=$((failed+1))\n", 1), true},
		"on one line":        {strings.Replace(script, "; do\n  check \"$t\"\ndone", "; do check \"$t\"; done", 1), true},
		"at the end":         {strings.Replace(script, "[ \"$failed\" -eq 0 ]", "exit $failed", 1), true},
		"no pipe":            {strings.Replace(script, "ls t_*.sh | while read -r t", "for t in t_*.sh", 1), false},
		"read in the loop":   {strings.Replace(script, "done\n[ \"$failed\" -eq 0 ]", "  [ \"$failed\" -eq 0 ] || exit 1\ndone", 1), false},
		"a here document":    {strings.Replace(strings.Replace(script, "ls t_*.sh | ", "", 1), "done\n", "done <list\n", 1), false},
		"the last of a pipe": {strings.Replace(script, "failed=0\n", "shopt -s lastpipe\nfailed=0\n", 1), false},
		"nothing is counted": {strings.Replace(script, "check \"$t\"\n", "echo \"$t\"\n", 1), false},
		"set again":          {strings.Replace(script, "done\n", "done\nfailed=$(wc -l <out)\n", 1), false},
		"set before a loop":  {strings.Replace(script, "done\n", "done\nfailed=0\nfor i in 1; do sh $i || failed=$((failed + 1)); done\n", 1), false},
		"counted on":         {strings.Replace(script, "done\n", "done\nfor i in 1; do sh $i || failed=$((failed + 1)); done\n", 1), true},
		"set after the read": {script + "failed=0\n", true},
		"another count":      {strings.Replace(script, "[ \"$failed\"", "[ \"$total\"", 1), false},
	} {
		if got := subshell(c.text); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
