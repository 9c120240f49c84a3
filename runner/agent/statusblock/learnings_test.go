package statusblock

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLearnings(t *testing.T) {
	for name, c := range map[string]struct {
		final string
		want  []string
	}{
		"nothing":        {"Done.", nil},
		"one":            {"Done.\n<learning>The server needs  a port.</learning>\n", []string{"The server needs a port."}},
		"several lines":  {"<learning>\nThe server\nneeds a port.\n</learning>", []string{"The server needs a port."}},
		"a list":         {"<learning>\n- a is b\n- c is d\n</learning>", []string{"a is b", "c is d"}},
		"two blocks":     {"<learning>a</learning> and <learning>b</learning>", []string{"a", "b"}},
		"not closed":     {"<learning>a", nil},
		"in code":        {"```\n<learning>a</learning>\n```", nil},
		"quoted":         {"> <learning>a</learning>", nil},
		"in the block":   {"---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nLEARNINGS: use tabs\n---END_RALPH_STATUS---", []string{"use tabs"}},
		"list of block":  {"---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nLEARNINGS:\n- use ctx: always\n- b\n- **EXIT_SIGNAL:** false\n---END_RALPH_STATUS---", []string{"use ctx: always", "b"}},
		"the template":   {"---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nLEARNINGS: <what you learned>\n---END_RALPH_STATUS---", nil},
		"none in block":  {"---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nLEARNINGS: none\n---END_RALPH_STATUS---", nil},
		"json":           {"```json\n{\"status\": \"IN_PROGRESS\", \"learnings\": [\"a\", \"b\"]}\n```", []string{"a", "b"}},
		"same in both":   {"<learning>a</learning>\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nLEARNINGS: a\n---END_RALPH_STATUS---", []string{"a"}},
		"empty":          {"<learning> </learning>", nil},
		"terminal codes": {"<learning>\x1b[31mred\x1b[0m</learning>", []string{"red"}},
	} {
		if d := cmp.Diff(c.want, Learnings(c.final)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
