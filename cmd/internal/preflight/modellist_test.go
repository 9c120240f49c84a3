package preflight

import (
	"slices"
	"strings"
	"testing"
)

func TestModelNames_readsWhatProgramsPrint(t *testing.T) {
	for name, test := range map[string]struct{ out, want string }{
		"one a line":          {"anthropic/claude-x\nopenai/gpt-5\r\n", "anthropic/claude-x openai/gpt-5"},
		"with a description":  {"Available models\n\nauto - Auto\nsonnet-4 - Sonnet 4 (current)\n\nTip: use --model\n", "auto sonnet-4"},
		"names in brackets":   {"Available models:\n - Claude Sonnet 4.5 [sonnet4.5]\n   fast\n", "sonnet4.5 fast"},
		"bullets and colours": {"\x1b[1m* a-1\x1b[0m\n• b:2\n", "a-1 b:2"},
		"a column":            {"NAME    SIZE\nqwen3    4 GB\n", "NAME qwen3"},
		"JSON":                {"WARNING: x\n{\"models\":[{\"slug\":\"gpt-6\",\"visibility\":\"list\"},{\"slug\":\"own\",\"visibility\":\"hide\"},{\"slug\":\"b\"}]}\n", "gpt-6 b"},
		"prose":               {"You are not logged in to this.\n", ""},
		"twice":               {"a\na\n", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := modelNames(test.out); !slices.Equal(got, strings.Fields(test.want)) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
