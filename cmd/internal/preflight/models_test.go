package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/cmd/internal/config"
	"ralph/internal/world"
)

func TestModels_ofTheProgram_elseThoseOfTheDocumentation(t *testing.T) {
	dir := world.Project(t, map[string]string{"bin/opencode*": "#!/bin/sh\necho a/b\n"})
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/bin:/usr/bin")
	cfg, _, err := config.Loader{Dir: dir}.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &Project{Dir: dir, Config: cfg, Env: os.Environ()}
	models := func(name, want string) {
		t.Helper()
		one, err := p.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Models(t.Context(), one), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	models("opencode", "a/b")
	if err := os.WriteFile(filepath.Join(dir, "bin/opencode"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	models("opencode", "")
	models("claude", "opus sonnet haiku")
}

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
