package pool

import (
	"cmp"
	"strings"
	"time"

	"ralph/state/option"
)

// CallOptions are the user's options for agent calls.
type CallOptions struct {
	Agent          string   // row of the agent table
	FallbackAgents []string // who works while Agent is under a usage limit, in this order
	AgentCmd       string   // command line that replaces the row's program; empty: the row's
	Model          string   // empty: the agent's own default
	AllowedTools   []string // entries in the agent's own syntax
	PermissionMode string   // PermitAllowedTools or PermitBypass

	Timeout       time.Duration // of one call; 0: ActiveTimeout
	ActiveTimeout time.Duration
	IdleTimeout   time.Duration // how long the agent may show no activity; 0: no limit
}

// Wall returns how long one call may take.
func (o *CallOptions) Wall() time.Duration { return cmp.Or(o.Timeout, o.ActiveTimeout) }

// Options returns the rows of the option table that fill o.
func (o *CallOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Limits", Key: "CLAUDE_TIMEOUT_MINUTES", Aliases: []string{"AGENT_TIMEOUT_MINUTES"},
		Flag: "timeout", Short: "t", Arg: "MIN", YAML: "timeout.total",
		Kind: option.Minutes, Default: "0", Min: "0", Max: "1440", Field: &o.Timeout,
		Help: "Minutes that one agent call may take; 0 means that ACTIVE_TIMEOUT_MINUTES applies.",
	}, {
		Group: "Limits", Key: "ACTIVE_TIMEOUT_MINUTES", YAML: "timeout.active",
		Kind: option.Minutes, Default: "120", Min: "1", Max: "1440", Field: &o.ActiveTimeout,
		Help: "Minutes that one agent call may take while it shows activity, unless CLAUDE_TIMEOUT_MINUTES is set.",
	}, {
		Group: "Limits", Key: "IDLE_TIMEOUT_MINUTES", Flag: "idle-timeout", Arg: "MIN", YAML: "timeout.stuck",
		Kind: option.Minutes, Default: "10", Min: "0", Max: "1440", Field: &o.IdleTimeout,
		Help: "Minutes without output or changed files after which a call is stuck (three times as long while a " +
			"tool call is open); 0 means no limit.",
	}, {
		Group: "Agent", Key: "AGENT", Flag: "agent", Arg: "NAME", YAML: "agent.name",
		YAMLAliases: []string{"agent.default"}, Kind: option.String, Default: "claude", Field: &o.Agent,
		Help: "Coding agent to run; text means any other program, which AGENT_CMD names. " +
			"If no agent is named, ralph asks on a terminal, and otherwise takes the first one that is installed.",
	}, {
		Group: "Agent", Key: "FALLBACK_AGENTS", Flag: "fallback-agents", Arg: "LIST", YAML: "agent.fallback",
		Kind: option.List, Field: &o.FallbackAgents,
		Help: "Agents that take over, in this order, while those before them are under a usage limit; " +
			"empty means none.",
	}, {
		Group: "Agent", Key: "CLAUDE_CODE_CMD", Aliases: []string{"AGENT_CMD"}, YAML: "agent.command",
		Kind: option.String, Trust: true, Safe: []string{"claude"}, Field: &o.AgentCmd,
		Help: "Command line to run instead of the agent's own program; empty means the agent's own. " +
			"AGENT=text needs it.",
	}, {
		Group: "Agent", Key: "MODEL", Aliases: []string{"CLAUDE_MODEL"}, Flag: "model", Arg: "M", YAML: "agent.model",
		Kind: option.String, Field: &o.Model, Help: "Model to ask the agent for; empty means the agent's own default.",
	}, {
		Group: "Agent", Key: "ALLOWED_TOOLS", Aliases: []string{"CLAUDE_ALLOWED_TOOLS"},
		Flag: "allowed-tools", Arg: "LIST", YAML: "agent.allowed_tools",
		Kind: option.List, Default: strings.Join(safeTools(), ","), Trust: true, Safe: safeTools(),
		Field: &o.AllowedTools, Help: "Tools that the agent may use without asking, in the agent's own syntax.",
	}, {
		Group: "Agent", Key: "PERMISSION_MODE", Aliases: []string{"RALPH_CLAUDE_PERMISSION", "RALPH_DOCKER_PERMISSION"},
		Flag: "permission-mode", Arg: "MODE", YAML: "agent.permission_mode",
		Spellings: map[string]string{"--dangerously-skip-permissions": "bypass", "bypassPermissions": "bypass",
			"default": "allowed-tools", "acceptEdits": "allowed-tools"},
		Kind: option.Enum, Default: "allowed-tools", Values: []string{"allowed-tools", "bypass"},
		Trust: true, Safe: []string{"allowed-tools"}, Field: &o.PermissionMode,
		Help: "allowed-tools limits the agent to ALLOWED_TOOLS, bypass skips its permission checks.",
	}}
}

// safeTools returns tools with which the agent can edit and commit, but neither push nor discard
// uncommitted work (clean, reset, checkout, stash).
func safeTools() []string {
	return []string{"Write", "Read", "Edit", "Glob", "Grep", "TodoWrite",
		"Bash(git add *)", "Bash(git commit *)", "Bash(git diff)", "Bash(git diff *)", "Bash(git log)",
		"Bash(git log *)", "Bash(git status)", "Bash(git status *)", "Bash(git show *)", "Bash(git branch)",
		"Bash(git branch *)"}
}
