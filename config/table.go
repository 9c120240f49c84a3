package config

import "ralph/runner/rules"

// safeTools lets the agent edit and commit, but neither push, nor discard work
// that is not committed (clean, reset, checkout, stash).
const safeTools = "Write,Read,Edit,Glob,Grep,TodoWrite," +
	"Bash(git add *),Bash(git commit *),Bash(git diff),Bash(git diff *),Bash(git log),Bash(git log *)," +
	"Bash(git status),Bash(git status *),Bash(git show *),Bash(git branch),Bash(git branch *)"

// Table returns every option, grouped, in the order of the documents.
func Table() []Option {
	var table []Option
	for _, group := range [][]Option{
		limitOptions(), agentOptions(), sessionOptions(), breakerOptions(), planOptions(), checkOptions(), environmentOptions(), commitOptions(), outputOptions(),
	} {
		table = append(table, group...)
	}
	return table
}

func limitOptions() []Option {
	const group = "Limits"
	return []Option{{
		Group: group, Key: "MAX_CALLS_PER_HOUR", Flag: "calls", Short: "c", Arg: "N", YAML: "limits.calls_per_hour",
		Kind: KindInt, Default: "100", Min: "1", Max: "1000000", field: func(o *rules.Options) any { return &o.CallsPerHour },
		Help: "Agent calls in one clock hour.",
	}, {
		Group: group, Key: "MAX_TOKENS_PER_HOUR", Flag: "max-tokens", Arg: "N", YAML: "limits.tokens_per_hour",
		Kind: KindInt, Default: "0", Min: "0", Max: "1000000000000", field: func(o *rules.Options) any { return &o.TokensPerHour },
		Help: "Tokens in one clock hour; 0 is no bound.",
	}, {
		Group: group, Key: "MAX_ITERATIONS", Flag: "max-iterations", Arg: "N", YAML: "limits.iterations",
		Kind: KindInt, Default: "0", Min: "0", Max: "1000000", field: func(o *rules.Options) any { return &o.MaxIterations },
		Help: "Iterations of one run; 0 is no bound.",
	}, {
		Group: group, Key: "MAX_DURATION", Flag: "max-duration", Arg: "D", YAML: "limits.duration",
		Kind: KindDuration, Default: "0s", Min: "0s", Max: "8760h", field: func(o *rules.Options) any { return &o.MaxDuration },
		Help: "Wall clock of one run; 0 is no bound.",
	}, {
		Group: group, Key: "MAX_COST_USD", Flag: "max-cost", Arg: "USD", YAML: "limits.cost_usd",
		Kind: KindUSD, Default: "0", Min: "0", Max: "1000000", field: func(o *rules.Options) any { return &o.MaxCost },
		Help: "US dollars that one run may cost, by the agent's own estimate; 0 is no bound.",
	}, {
		Group: group, Key: "CLAUDE_TIMEOUT_MINUTES", Aliases: []string{"AGENT_TIMEOUT_MINUTES"},
		Flag: "timeout", Short: "t", Arg: "MIN", YAML: "timeout.total",
		Kind: KindMinutes, Default: "15", Min: "1", Max: "1440", field: func(o *rules.Options) any { return &o.Timeout },
		Help: "Minutes that one agent call may take.",
	}, {
		Group: group, Key: "IDLE_TIMEOUT_MINUTES", Flag: "idle-timeout", Arg: "D", YAML: "timeout.idle",
		Kind: KindMinutes, Default: "10", Min: "0", Max: "1440", field: func(o *rules.Options) any { return &o.IdleTimeout },
		Help: "Minutes that the agent may stay silent; 0 is no bound.",
	}, {
		Group: group, Key: "ON_LIMIT", Flag: "on-limit", Arg: "wait|stop", YAML: "limits.on_limit",
		Kind: KindEnum, Default: "wait", Values: []string{"wait", "stop"}, field: func(o *rules.Options) any { return &o.OnLimit },
		Help: "What to do when the agent's usage limit is reached: wait for its reset, or stop.",
	}, {
		Group: group, Key: "ITERATION_DELAY", Flag: "delay", Arg: "D", YAML: "limits.delay",
		Kind: KindDuration, Default: "0s", Min: "0s", Max: "24h", field: func(o *rules.Options) any { return &o.Delay },
		Help: "Pause between two iterations; 0s is none.",
	}}
}

func agentOptions() []Option {
	const group = "Agent"
	return []Option{{
		Group: group, Key: "AGENT", Flag: "agent", Arg: "NAME", YAML: "agent.name",
		Kind: KindString, Default: "claude", field: func(o *rules.Options) any { return &o.Agent },
		Help: "Which coding agent to run.",
	}, {
		Group: group, Key: "FALLBACK_AGENTS", Flag: "fallback-agents", Arg: "LIST", YAML: "agent.fallback",
		Kind: KindList, field: func(o *rules.Options) any { return &o.FallbackAgents },
		Help: "Agents that work, in this order, while the one before is under a usage limit; empty is none.",
	}, {
		Group: group, Key: "CLAUDE_CODE_CMD", Aliases: []string{"AGENT_CMD"}, YAML: "agent.command",
		Kind: KindString, Trust: true, Safe: []string{"claude"}, field: func(o *rules.Options) any { return &o.AgentCmd },
		Help: "Command line that replaces the agent's program; empty is the agent's own.",
	}, {
		Group: group, Key: "MODEL", Aliases: []string{"CLAUDE_MODEL"}, Flag: "model", Arg: "M", YAML: "agent.model",
		Kind: KindString, field: func(o *rules.Options) any { return &o.Model },
		Help: "Model that the agent is asked to use; empty is the agent's own default.",
	}, {
		Group: group, Key: "ALLOWED_TOOLS", Aliases: []string{"CLAUDE_ALLOWED_TOOLS"},
		Flag: "allowed-tools", Arg: "LIST", YAML: "agent.allowed_tools",
		Kind: KindList, Default: safeTools, field: func(o *rules.Options) any { return &o.AllowedTools },
		Help: "Tools that the agent may use without asking, in the agent's own syntax.",
	}, {
		Group: group, Key: "PERMISSION_MODE", Flag: "permission-mode", Arg: "MODE", YAML: "agent.permission_mode",
		Kind: KindEnum, Default: "allowed-tools", Values: []string{"allowed-tools", "bypass"},
		Trust: true, Safe: []string{"allowed-tools"}, field: func(o *rules.Options) any { return &o.PermissionMode },
		Help: "Whether the agent keeps to ALLOWED_TOOLS or skips its permission checks.",
	}}
}

func sessionOptions() []Option {
	const group = "Session"
	return []Option{{
		Group: group, Key: "SESSION_CONTINUITY", Aliases: []string{"CLAUDE_USE_CONTINUE"},
		Flag: "continue", NoFlag: "no-continue", YAML: "session.continue",
		Kind: KindBool, Default: "false", field: func(o *rules.Options) any { return &o.Continue },
		Help: "Resume ralph's own agent session instead of a fresh context in each iteration.",
	}, {
		Group: group, Key: "SESSION_EXPIRY_HOURS", Flag: "session-expiry", Arg: "H", YAML: "session.expiry",
		Kind: KindHours, Default: "24", Min: "1", Max: "8760", field: func(o *rules.Options) any { return &o.SessionExpiry },
		Help: "Hours after which a session is not resumed any more.",
	}}
}

func breakerOptions() []Option {
	const group = "Circuit breaker"
	return []Option{{
		Group: group, Key: "CB_NO_PROGRESS_THRESHOLD", YAML: "breaker.no_progress",
		Kind: KindInt, Default: "3", Min: "1", Max: "1000", field: func(o *rules.Options) any { return &o.NoProgressThreshold },
		Help: "Consecutive iterations without progress that open the breaker.",
	}, {
		Group: group, Key: "CB_SAME_ERROR_THRESHOLD", YAML: "breaker.same_error",
		Kind: KindInt, Default: "5", Min: "1", Max: "1000", field: func(o *rules.Options) any { return &o.SameErrorThreshold },
		Help: "Consecutive iterations with the same error that open the breaker.",
	}, {
		Group: group, Key: "CB_PERMISSION_DENIAL_THRESHOLD", YAML: "breaker.permission_denials",
		Kind: KindInt, Default: "2", Min: "1", Max: "1000", field: func(o *rules.Options) any { return &o.DenialThreshold },
		Help: "Consecutive iterations with a denied tool call that halt the run.",
	}, {
		Group: group, Key: "CB_OUTPUT_DECLINE_THRESHOLD", YAML: "breaker.output_decline",
		Kind: KindInt, Default: "70", Min: "1", Max: "100", field: func(o *rules.Options) any { return &o.OutputDeclineThreshold },
		Help: "Percent by which the agent's output must shrink to open the breaker.",
	}, {
		Group: group, Key: "CB_COOLDOWN_MINUTES", YAML: "breaker.cooldown",
		Kind: KindMinutes, Default: "30", Min: "0", Max: "10080", field: func(o *rules.Options) any { return &o.Cooldown },
		Help: "Minutes after which an open breaker lets one iteration try again; 0 is at once.",
	}, {
		Group: group, Key: "CB_AUTO_RESET", Flag: "auto-reset-circuit", YAML: "breaker.auto_reset",
		Kind: KindBool, Default: "false", field: func(o *rules.Options) any { return &o.AutoReset },
		Help: "Close the breaker when a run starts.",
	}}
}

func planOptions() []Option {
	const group = "Prompt and plan"
	return []Option{{
		Group: group, Key: "PROMPT_FILE", Flag: "prompt", Short: "p", Arg: "FILE", YAML: "prompt.file",
		Kind: KindPath, field: func(o *rules.Options) any { return &o.PromptFile },
		Help: "The prompt; empty is the first of .ralph/PROMPT.md, PROMPT.md, prompt.md.",
	}, {
		Group: group, Key: "PLAN_FILE", Flag: "plan", Arg: "FILE", YAML: "plan.file",
		Kind: KindPath, field: func(o *rules.Options) any { return &o.PlanFile },
		Help: "The plan; empty is the first of .ralph/fix_plan.md, fix_plan.md, @fix_plan.md, prd.json, .ralph/prd.json.",
	}, {
		Group: group, Key: "OPTIONAL_SECTIONS", YAML: "plan.optional_sections",
		Kind: KindList, Default: "Optional,Future,Future Enhancements,Nice to Have", field: func(o *rules.Options) any { return &o.OptionalSections },
		Help: "Headings of the plan whose open tasks do not keep the run going.",
	}, {
		Group: group, Key: "COMPLETION_CLAIMS", YAML: "plan.completion_claims",
		Kind: KindInt, Default: "2", Min: "1", Max: "100", field: func(o *rules.Options) any { return &o.CompletionClaims },
		Help: "Consecutive iterations in which the agent must signal completion before a run without a plan ends, or one with open tasks is given up.",
	}}
}

func checkOptions() []Option {
	const group = "Checks"
	return []Option{{
		Group: group, Key: "TEST_COMMAND", YAML: "commands.test",
		Kind: KindString, Trust: true, field: func(o *rules.Options) any { return &o.TestCommand },
		Help: "Shell command that must succeed after the agent's turn; empty is none.",
	}, {
		Group: group, Key: "BUILD_COMMAND", YAML: "commands.build",
		Kind: KindString, Trust: true, field: func(o *rules.Options) any { return &o.BuildCommand },
		Help: "Shell command that builds the project and must succeed after the agent's turn; empty is none.",
	}, {
		Group: group, Key: "LINT_COMMAND", YAML: "commands.lint",
		Kind: KindString, Trust: true, field: func(o *rules.Options) any { return &o.LintCommand },
		Help: "Shell command that lints the project and must succeed after the agent's turn; empty is none.",
	}, {
		Group: group, Key: "DETECT_CHECKS", YAML: "test.detect",
		Kind: KindBool, Default: "true", field: func(o *rules.Options) any { return &o.DetectChecks },
		Help: "Find checks by the project's files when none is configured.",
	}, {
		Group: group, Key: "TEST_MODE", YAML: "test.mode",
		Kind: KindEnum, Values: []string{"gate", "tdd", "report"}, field: func(o *rules.Options) any { return &o.TestMode },
		Help: "Which failures block: all of required checks, only those that were not red before, none; empty is gate, for detected checks tdd.",
	}, {
		Group: group, Key: "BASELINE_SCOPE", YAML: "test.baseline_scope",
		Kind: KindEnum, Default: "session", Values: []string{"global", "session", "task"}, field: func(o *rules.Options) any { return &o.BaselineScope },
		Help: "When it is noted what is red already: once for the project, for each run, or for each task.",
	}, {
		Group: group, Key: "FAIL_FAST", YAML: "test.fail_fast",
		Kind: KindBool, Default: "true", field: func(o *rules.Options) any { return &o.FailFast },
		Help: "Stop at the first check whose failure blocks, instead of running all.",
	}, {
		Group: group, Key: "MAX_RETRIES", YAML: "test.max_retries",
		Kind: KindInt, Default: "3", Min: "0", Max: "100", field: func(o *rules.Options) any { return &o.MaxRetries },
		Help: "Tries that one task gets after a required check has failed, before it is put aside; 0 is no bound.",
	}, {
		Group: group, Key: "ANTI_CHEAT", YAML: "integrity.anti_cheat",
		Kind: KindEnum, Default: "revert", Values: []string{"warn", "revert", "halt"}, field: func(o *rules.Options) any { return &o.AntiCheat },
		Help: "What a weakened test, a tick without work or a tick of another task does: warn tells agent and user, revert also takes such ticks back, halt ends the run.",
	}}
}

func environmentOptions() []Option {
	return []Option{{
		Group: "Environment", Key: "ENV_EXCLUDE", YAML: "env.exclude",
		Kind: KindEnv, Trust: true, field: func(o *rules.Options) any { return &o.EnvExclude },
		Help: "Environment variables that agent and checks do not get, or with ! do get; after the built-in ones, the last match decides.",
	}}
}

func commitOptions() []Option {
	const group = "Commits"
	return []Option{{
		Group: group, Key: "AUTO_COMMIT", YAML: "git.auto_commit",
		Kind: KindBool, Default: "false", field: func(o *rules.Options) any { return &o.AutoCommit },
		Help: "Commit what the agent left over when the checks are green; false leaves all commits to the agent.",
	}, {
		Group: group, Key: "COMMIT_PREFIX", YAML: "git.commit_prefix",
		Kind: KindString, Default: "[ralph]", field: func(o *rules.Options) any { return &o.CommitPrefix },
		Help: "Beginning of the messages of ralph's own commits; empty is none.",
	}}
}

func outputOptions() []Option {
	const group = "Output"
	return []Option{{
		Group: group, Key: "RALPH_VERBOSE", Flag: "verbose", Short: "v", YAML: "output.verbose",
		Kind: KindBool, Default: "false", field: func(o *rules.Options) any { return &o.Verbose },
		Help: "Say more about what the loop does.",
	}, {
		Group: group, Key: "ENABLE_NOTIFICATIONS", Flag: "notify", Short: "n", YAML: "output.notify",
		Kind: KindBool, Default: "false", field: func(o *rules.Options) any { return &o.Notify },
		Help: "Show a desktop notification when the run ends or needs attention.",
	}}
}
