package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCalledAs_linksAreTheirVerb_anyOtherNameIsRalph(t *testing.T) {
	for _, c := range []struct {
		argv    []string
		program string
		args    []string
	}{
		{nil, "ralph", nil},
		{[]string{"ralph", "status"}, "ralph", []string{"status"}},
		{[]string{"/usr/bin/ralph-status", "--json"}, "ralph-status", []string{"status", "--json"}},
		{[]string{"./ralph-monitor"}, "ralph-monitor", []string{"monitor"}},
		{[]string{"/opt/ralph-1.2", "run"}, "ralph", []string{"run"}},
	} {
		program, args := calledAs(c.argv)
		if program != c.program || cmp.Diff(c.args, args) != "" && len(c.args)+len(args) > 0 {
			t.Errorf("%q: got %s %q, want %s %q", c.argv, program, args, c.program, c.args)
		}
	}
}
