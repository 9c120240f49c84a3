//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
)

// agentCLI is an agent program from npm, pinned.
type agentCLI struct {
	name, pkg, version string
	npm                []string // more arguments of npm install
	// set makes it talk to a mock server, whose URL is given, with a dummy key,
	// and without retries of its own as far as it can be told: variables, and
	// files in its home.
	set func(mock string) (env []string, files map[string]any)
	// tries is how often one call asks a service that fails; some cannot be told to give up at once.
	tries   int
	denials bool // it reports refused commands
	// entry of ALLOWED_TOOLS that would allow a refused "curl"; empty: it takes
	// no such list.
	entry string
	// forbidEnv and forbidFiles forbid shell commands to a CLI that does so by
	// its own settings alone, not by a list of allowed tools.
	forbidEnv   []string
	forbidFiles map[string]any
}

func agents() []agentCLI {
	return append([]agentCLI{claude()}, others()...)
}

func claude() agentCLI {
	return agentCLI{
		name: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.328",
		set: func(mock string) ([]string, map[string]any) {
			return []string{
				"ANTHROPIC_BASE_URL=" + mock, "ANTHROPIC_API_KEY=sk-ant-dummy",
				// Without it the CLI looks for other hosts for some seconds before it begins.
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"CLAUDE_CODE_MAX_RETRIES=0",
			}, nil
		},
	}
}

// subscription swaps the key for a subscriber's token: only then the CLI reads
// usage limits.
func subscription(env []string) []string {
	out := []string{"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy"}
	for _, kv := range env {
		if !strings.HasPrefix(kv, "ANTHROPIC_API_KEY=") {
			out = append(out, kv)
		}
	}
	return out
}

// others returns the CLIs beside claude.
func others() []agentCLI {
	return []agentCLI{codex(), gemini(), opencode(), qwen(), amp()}
}

func codex() agentCLI {
	return agentCLI{
		name: "codex", pkg: "@openai/codex", version: "0.169.0", tries: 1,
		set: func(mock string) ([]string, map[string]any) {
			// It puts no helper of its own sandbox below the temporary folder, where the
			// test's home is, and bubblewrap then misses it.
			return []string{"MOCK_KEY=sk-dummy", "TMPDIR=/var/tmp"}, map[string]any{".codex/config.toml": `
model = "mock-model"
model_provider = "mock"
[features]
plugins = false # they are fetched by git, which outlives a call
[model_providers.mock]
name = "mock"
base_url = "` + mock + `/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`}
		},
	}
}

func gemini() agentCLI {
	return agentCLI{
		name: "gemini", pkg: "@google/gemini-cli", version: "0.61.0", denials: true, entry: "run_shell_command(curl)", tries: 1,
		set: func(mock string) ([]string, map[string]any) {
			return []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + mock, "GEMINI_MODEL=gemini-2.5-flash"},
				map[string]any{".gemini/settings.json": map[string]any{
					"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
					"general":  map[string]any{"enableAutoUpdate": false, "maxAttempts": 1},
					"privacy":  map[string]any{"usageStatisticsEnabled": false},
				}}
		},
	}
}

func opencode() agentCLI {
	return agentCLI{
		name: "opencode", pkg: "opencode-ai", version: "1.18.33", denials: true, tries: 6,
		set: func(mock string) ([]string, map[string]any) {
			model := map[string]any{"limit": map[string]any{"context": 200000, "output": 8000}, "cost": map[string]any{"input": 3, "output": 15}}
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
				map[string]any{".config/opencode/opencode.json": map[string]any{
					"model": "mock/mock-model", "small_model": "mock/mock-model", "share": "disabled",
					"provider": map[string]any{"mock": map[string]any{
						"npm":     "@ai-sdk/openai-compatible",
						"options": map[string]any{"baseURL": mock + "/v1", "apiKey": "sk-dummy"},
						"models":  map[string]any{"mock-model": model},
					}},
				}}
		},
		forbidEnv: []string{`OPENCODE_CONFIG_CONTENT={"permission":{"bash":"ask"}}`},
	}
}

func qwen() agentCLI {
	return agentCLI{
		name: "qwen", pkg: "@qwen-code/qwen-code", version: "0.24.4", denials: true, entry: "run_shell_command(curl)", tries: 7,
		set: func(mock string) ([]string, map[string]any) {
			return []string{"OPENAI_API_KEY=sk-dummy", "OPENAI_BASE_URL=" + mock + "/v1", "OPENAI_MODEL=mock-model"},
				map[string]any{".qwen/settings.json": map[string]any{
					"general": map[string]any{"enableAutoUpdate": false},
					"privacy": map[string]any{"usageStatisticsEnabled": false},
					"model":   map[string]any{"generationConfig": map[string]any{"maxRetries": 0}},
				}}
		},
	}
}

func amp() agentCLI {
	return agentCLI{
		name: "amp", pkg: "@sourcegraph/amp", version: "0.0.1767830505-ga62310", denials: true, tries: 1,
		set: func(mock string) ([]string, map[string]any) {
			u, _ := url.Parse(mock) // the mock made it
			// It keeps only the origin; the key chooses the scenario.
			return []string{"AMP_API_KEY=sgamp_dummy_scenario-" + scenario, "AMP_URL=" + u.Scheme + "://" + u.Host + "/",
				// Else it asks about commands that it has no rule for, and nobody answers.
				"PERMISSION_MODE=bypass"}, nil
		},
		forbidEnv: []string{"PERMISSION_MODE=allowed-tools"},
		forbidFiles: map[string]any{".config/amp/settings.json": map[string]any{
			"amp.permissions": []any{map[string]any{"tool": "Bash", "action": "reject"}},
		}},
	}
}

// text returns a file's content: a string as it is, else JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v) // plain maps
	return string(b)
}
