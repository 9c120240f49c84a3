// Package agent supports coding-agent CLIs: how to start each one, what its output
// means, and how a call ended. Every CLI is a row in specs.go; there is code for
// each wire format, but never for a single CLI.
//
//	Spec + Request -> Command          arguments, environment, stdin (pure)
//	bytes -> Decoder -> state.Payload  one decoder per wire format
//	state.Payload -> Transcript        what the payloads of a call add up to
//	Transcript + Exit -> Outcome       the class of the call (pure)
package agent

import (
	"fmt"
	"strings"

	"ralph/runner/agent/ending"
)

// Specs returns the table of agent CLIs, in the order in which they are shown.
func Specs() []Spec {
	version := []string{"--version"}
	resume, model := []string{"--resume", argValue}, []string{"--model", argValue}
	return []Spec{
		{
			Name: "claude", Bin: "claude", Install: "npm install -g @anthropic-ai/claude-code",
			Template: Template{
				// --allowedTools takes all words that follow, so the prompt must not follow it.
				Args: []string{"-p", "--output-format", "stream-json", "--verbose", argPermissions,
					argModel, argSettings, argResume},
				PromptBy: PromptStdin, VersionArgs: version, ResumeArgs: resume, ModelArgs: model,
				SettingsArgs: []string{"--settings", argValue},
				AllowedArgs:  []string{"--permission-mode", "default", "--allowedTools"},
				AllowedItem:  []string{argValue},
				BypassArgs:   []string{"--dangerously-skip-permissions"}, ReadOnlyArgs: claudeReadOnly(),
				ShellEntry: "Bash(%s:*)", Models: []string{"opus", "sonnet", "haiku"},
				LoginArgs: []string{"auth", "status", "--text"}, // an older CLI refuses --text, and makes no call
			},
			Env: Variables{State: []string{".claude/", ".claude.json", ".local/share/claude/",
				".local/state/claude/"},
				Fixed: []string{".claude/settings.json", ".claude/commands/", ".claude/agents/", ".claude/hooks/",
					".claude/plugins/", ".claude/skills/",
					".claude/output-styles/", ".claude/CLAUDE.md", ".claude/local/", ".local/share/claude/"},
				Copied: []string{".claude.json", ".claude/.claude.json"}, // with the user's MCP servers
				Moved:  []string{"CLAUDE_CONFIG_DIR=.claude"},
				Steers: []string{".claude/settings.json", ".claude/settings.local.json", ".claude/commands/",
					".claude/agents/", ".claude/hooks/", ".mcp.json"},
				Topics: []string{"mcp", "claude (?:code|hooks?|settings?|commands?|agents?)", "slash commands?",
					"sub-?agents?"},
				// With background tasks, a call runs on for minutes after its result.
				Set: []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
				SetAsRoot: []string{"IS_SANDBOX=1"},
				Unset:     []string{"CLAUDECODE", "CLAUDE_CODE_*"},
				Keep: []string{"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
					"CLAUDE_CODE_OAUTH_SCOPES", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_MAX_*",
					"CLAUDE_CODE_API_*", "CLAUDE_CODE_CLIENT_*", "CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_ENABLE_*",
					"CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_EFFORT_LEVEL", "CLAUDE_CODE_EXTRA_BODY",
					"CLAUDE_CODE_SHELL*", "CLAUDE_CODE_TMPDIR", "CLAUDE_CODE_CERT_STORE"},
				Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS",
					"ANTHROPIC_*_API_KEY", "ANTHROPIC_*_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
					"CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "CLAUDE_CODE_OAUTH_SCOPES", "CLAUDE_CODE_API_KEY_*",
					"CLAUDE_CODE_CLIENT_KEY_PASSPHRASE", "AWS_BEARER_TOKEN_BEDROCK"},
				Clouds: []cloud{{If: []string{"CLAUDE_CODE_USE_*"}, Keys: append(awsKeys(),
					"GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PASSWORD")}},
			},
			Format: FormatClaude, SessionCost: true,
		},
		{
			Name: "codex", Bin: "codex", Install: "npm install -g @openai/codex",
			Template: Template{
				// Analytics would delay the end of every call by five seconds.
				Args: []string{"exec", "--json", "--skip-git-repo-check", "-c", "analytics.enabled=false",
					argPermissions, argModel, argResume, "-"},
				PromptBy: PromptStdin, VersionArgs: version, ResumeArgs: []string{"resume", argValue}, ModelArgs: model,
				AllowedArgs: []string{"--sandbox", "workspace-write"}, ContainedArgs: []string{"--sandbox", "danger-full-access"},
				BypassArgs: []string{"--dangerously-bypass-approvals-and-sandbox"}, LoginArgs: []string{"login", "status"},
				ModelsArgs: []string{"debug", "models"}, ReadOnlyArgs: []string{"--sandbox", "read-only"},
			},
			Env: Variables{State: []string{".codex/"}, Reads: []string{".agents/skills"}, Moved: []string{"CODEX_HOME=.codex"}, Steers: []string{".codex/"},
				Fixed: []string{".codex/config.toml", ".codex/hooks.json", ".codex/rules/", ".codex/prompts/", ".codex/packages/",
					".codex/skills/", ".codex/AGENTS.md"}, Keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN",
					"AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"}},
			Format: FormatCodex, SessionTokens: true, CachedInInput: true,
			// Printed when it is interrupted; it does not mean that a session is missing.
			Patterns: []ending.Pattern{{Class: ending.Unknown, Match: `failed to record rollout items`}},
		},
		{
			Name: "gemini", Bin: "gemini", Install: "npm install -g @google/gemini-cli",
			Template: Template{
				Args: []string{"--output-format", "stream-json", "--skip-trust", argPermissions, argModel,
					argResume},
				PromptBy: PromptStdin, VersionArgs: version, ResumeArgs: resume, ModelArgs: model,
				AllowedArgs: []string{"--approval-mode", "auto_edit"},
				AllowedItem: []string{"--allowed-tools", argValue},
				BypassArgs:  []string{"--yolo"}, ReadOnlyArgs: []string{"--approval-mode", "default"},
				LoginFile: ".gemini/oauth_creds.json", Models: []string{"auto", "pro", "flash", "flash-lite"},
				Tools:      geminiTools("replace", "write_todos", "google_web_search"),
				ShellEntry: "run_shell_command(%s)",
			},
			Env: Variables{State: []string{".gemini/"}, Reads: []string{".agents/skills"}, Steers: []string{".gemini/"},
				Fixed: []string{".gemini/settings.json", ".gemini/.env", ".gemini/extensions/", ".gemini/commands/",
					".gemini/policies/", ".gemini/skills/", ".gemini/agents/", ".gemini/trustedFolders.json",
					".gemini/GEMINI.md"},
				Keys: []string{"GEMINI_API_KEY", "GEMINI_API_KEY_AUTH_MECHANISM", "GEMINI_CLI_CUSTOM_HEADERS",
					"GOOGLE_API_KEY", "GOOGLE_CLOUD_ACCESS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"}},
			Format:  FormatGemini,
			Guarded: []string{"run_shell_command", "write_file", "replace", "web_fetch"},
			// The API says this of every quota, even one that resets within a minute.
			Patterns:  []ending.Pattern{{Class: ending.RateLimited, Match: `exceeded your current quota`}},
			ExitCodes: map[int]ending.Class{41: ending.Auth, 42: ending.BadFlag, 52: ending.BadFlag, 53: ending.MaxTurns},
		},
		{
			Name: "opencode", Bin: "opencode", Install: "npm install -g opencode-ai",
			Template: Template{
				Args:     []string{"run", "--format", "json", argPermissions, argModel, argResume},
				PromptBy: PromptStdin, VersionArgs: version, ResumeArgs: []string{"--session", argValue},
				ModelArgs: model, BypassArgs: []string{"--auto"}, ReadOnlyArgs: []string{"--agent", "plan"},
				ModelsArgs: []string{"models"}, LoginFile: ".local/share/opencode/auth.json",
			},
			Env: Variables{State: []string{".config/opencode/", ".local/share/opencode/", ".local/state/opencode/", ".cache/opencode/"},
				Reads: []string{".opencode/bin", ".agents/skills"},
				// It does not start if a .gitignore is missing and it cannot write one.
				Fixed:  []string{".config/opencode/.gitignore", ".config/opencode/", ".cache/opencode/bin/"},
				Steers: []string{"opencode.json", "opencode.jsonc", ".opencode/", ".opencode/.gitignore"},
				Set:    []string{"OPENCODE_DISABLE_AUTOUPDATE=1"},
				Keys: append(providerKeys(), "OPENCODE_API_KEY", "OPENCODE_AUTH_CONTENT",
					"OPENCODE_CONFIG_CONTENT", "AWS_BEARER_TOKEN_BEDROCK"),
				Clouds: []cloud{
					{Models: []string{"amazon-bedrock/"}, Keys: awsKeys()},
					{Models: []string{"google-vertex"}, If: []string{"GOOGLE_VERTEX_*"},
						Keys: []string{"GOOGLE_APPLICATION_CREDENTIALS"}},
					{Models: []string{"github-"}, Keys: []string{"GITHUB_TOKEN"}},
					{Models: []string{"cloudflare-"}, Keys: []string{"CLOUDFLARE_API_TOKEN"}},
				},
			},
			Format: FormatOpencode,
		},
		{
			Name: "qwen", Bin: "qwen", Install: "npm install -g @qwen-code/qwen-code",
			Template: Template{
				Args:     []string{"--output-format", "stream-json", argPermissions, argModel, argResume},
				PromptBy: PromptStdin, VersionArgs: version, ResumeArgs: resume, ModelArgs: model,
				AllowedArgs: []string{"--approval-mode", "auto-edit"},
				AllowedItem: []string{"--allowed-tools", argValue},
				BypassArgs:  []string{"--yolo"}, ReadOnlyArgs: []string{"--approval-mode", "default"},
				LoginFile: ".qwen/oauth_creds.json", Tools: geminiTools("edit", "todo_write", "web_search"),
				ShellEntry: "run_shell_command(%s)",
			},
			Env: Variables{State: []string{".qwen/"}, Steers: []string{".qwen/"},
				Fixed: []string{".qwen/.env", ".qwen/extensions/", ".qwen/commands/", ".qwen/agents/", ".qwen/skills/",
					".qwen/trustedFolders.json", ".qwen/QWEN.md"},
				Copied: []string{".qwen/settings.json"}, // its first start writes it anew
				Set:    []string{"QWEN_CODE_SUPPRESS_YOLO_WARNING=1"},
				Keys: append(modelKeys(), "QWEN_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_API_KEY",
					"BAILIAN_*_API_KEY", "MODELSCOPE_API_KEY", "REQUESTY_API_KEY", "WEB_SEARCH_API_KEY",
					"ZAI_API_KEY"),
			},
			Format: FormatClaude, SessionTokens: true, CachedInInput: true,
			ExitCodes: map[int]ending.Class{53: ending.MaxTurns, 55: ending.MaxTurns},
		},
		{
			Name: "amp", Bin: "amp", Install: "npm install -g @sourcegraph/amp",
			Template: Template{
				Args:     []string{argResume, argPermissions, "--execute", "--stream-json"},
				PromptBy: PromptStdin, VersionArgs: version, ResumeArgs: []string{"threads", "continue", argValue},
				BypassArgs: []string{"--dangerously-allow-all"},
			},
			Env: Variables{State: []string{".config/amp/", ".local/share/amp/", ".cache/amp/"},
				Reads:  []string{".amp/bin", ".config/agents", ".agents/skills"},
				Fixed:  []string{".config/amp/settings.json", ".config/amp/plugins/", ".config/amp/tools/"},
				Steers: []string{".amp/"}, Keys: []string{"AMP_API_KEY"}},
			Format: FormatClaude, Refused: "Tool execution rejected by user",
			// It ends like this, or hangs, at a command that its rules do not allow.
			Patterns: []ending.Pattern{{Class: ending.PermissionDenied, Match: `require user approval`}},
		},
		{
			// Written from its documentation, without a recording. In print mode it only
			// proposes changes, unless --force lets it make them.
			Name: "cursor-agent", Alias: "cursor", Bin: "cursor-agent", Install: "see cursor.com/cli",
			Template: Template{
				Args:     []string{"-p", "--output-format", "stream-json", "--trust", argPermissions, argModel, argResume},
				PromptBy: PromptArg, VersionArgs: version, ResumeArgs: resume, ModelArgs: model,
				AllowedArgs:   []string{"--force", "--sandbox", "enabled"},
				ContainedArgs: []string{"--force", "--sandbox", "disabled"}, BypassArgs: []string{"--force"},
				ReadOnlyArgs: []string{"--sandbox", "enabled"}, ModelsArgs: []string{"models"},
			},
			Env: Variables{State: []string{".cursor/", ".config/cursor/"}, Reads: []string{".local/share/cursor-agent"},
				Fixed:  []string{".cursor/hooks.json", ".cursor/mcp.json", ".cursor/hooks/", ".cursor/rules/"},
				Copied: []string{".cursor/cli-config.json", ".config/cursor/cli-config.json"},
				Steers: []string{".cursor/hooks.json", ".cursor/mcp.json", ".cursor/cli.json", ".cursor/hooks/"},
				Topics: []string{"cursor"}, Keys: []string{"CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"}},
			Format: FormatClaude,
		},
		{
			Name: "text", About: "any other program, which reads the prompt from standard input",
			Install:  "set AGENT_CMD to the command line of your agent",
			Template: Template{PromptBy: PromptStdin},
			Format:   FormatText,
		},
	}
}

// Format is the name of the wire format of a CLI's output.
type Format string

// The wire formats. A CLI with FormatText prints plain text: only its exit status
// and its last lines show how a call ended.
const (
	FormatClaude   Format = "claude-stream-json"
	FormatCodex    Format = "codex-json"
	FormatGemini   Format = "gemini-stream-json"
	FormatOpencode Format = "opencode-json"
	FormatText     Format = "text"
)

// Spec is one row of the table of agent CLIs. The CLI does not have what a nil slice or map describes.
type Spec struct {
	Name    string `json:"name,omitempty"`    // the value of AGENT
	Alias   string `json:"alias,omitempty"`   // another value of AGENT; empty: none
	About   string `json:"about,omitempty"`   // one line; empty: nothing to say
	Bin     string `json:"bin,omitempty"`     // program on PATH; empty: the user must set AGENT_CMD
	Install string `json:"install,omitempty"` // one line: how to get it

	Template
	Pipe bool `json:"pipe,omitempty"` // run it with a pipe instead of a terminal

	Env Variables `json:"env"` // without its Name, which is the Spec's

	Format        Format   `json:"format,omitempty"`
	SessionTokens bool     `json:"session_tokens,omitempty"`  // token counts are those of the whole session
	SessionCost   bool     `json:"session_cost,omitempty"`    // so is the cost
	CachedInInput bool     `json:"cached_in_input,omitempty"` // input tokens include those read from the cache
	Refused       string   `json:"refused,omitempty"`         // prefix of the result of a refused tool call
	Guarded       []string `json:"guarded,omitempty"`         // tools that it calls unknown if they are not allowed

	Patterns  []ending.Pattern     `json:"patterns,omitempty"`   // tried before the built-in ones
	ExitCodes map[int]ending.Class `json:"exit_codes,omitempty"` // documented codes, used if nothing else says why
}

// CostNote says behind a bound on the cost that it binds nothing; empty: the CLI may report its cost.
func (s Spec) CostNote() string {
	switch s.Format {
	case FormatCodex, FormatGemini, FormatText:
		return fmt.Sprintf(" (binds nothing: %s reports no cost)", s.Name)
	}
	return ""
}

// Find returns a row, built in or the user's own. The error lists the known names.
func Find(name string, custom ...Spec) (Spec, error) {
	var names []string
	for _, s := range append(Specs(), custom...) {
		if s.Name == name || s.Alias == name && name != "" {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Spec{}, fmt.Errorf("unknown agent %q, known are: %s", name, strings.Join(names, ", "))
}
