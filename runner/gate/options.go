package gate

import "ralph/config/option"

// CheckOptions are the user's options for checks.
type CheckOptions struct {
	TestCommand   string // required, run after the agent's turn; empty: none
	BuildCommand  string
	LintCommand   string
	DetectChecks  bool   // without configured checks, detect them from the project's files
	TestMode      string // a Mode; empty: ModeGate, or ModeTDD for detected checks
	BaselineScope string // a Scope
	FailFast      bool   // stop at the first failure that blocks
}

// Options returns the rows of the option table that fill o.
func (o *CheckOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Checks", Key: "TEST_COMMAND", YAML: "commands.test",
		Kind: option.String, Trust: true, Field: &o.TestCommand,
		Help: "Shell command that must succeed after the agent's turn; empty is none.",
	}, {
		Group: "Checks", Key: "BUILD_COMMAND", YAML: "commands.build",
		Kind: option.String, Trust: true, Field: &o.BuildCommand,
		Help: "Shell command that builds the project and must succeed after the agent's turn; empty is none.",
	}, {
		Group: "Checks", Key: "LINT_COMMAND", YAML: "commands.lint",
		Kind: option.String, Trust: true, Field: &o.LintCommand,
		Help: "Shell command that lints the project and must succeed after the agent's turn; empty is none.",
	}, {
		Group: "Checks", Key: "DETECT_CHECKS", YAML: "test.detect",
		Kind: option.Bool, Default: "true", Field: &o.DetectChecks,
		Help: "Detect checks from the project's files when none is configured.",
	}, {
		Group: "Checks", Key: "TEST_MODE", YAML: "test.mode",
		Kind: option.Enum, Values: []string{"gate", "tdd", "report"}, Field: &o.TestMode,
		Help: "Which failures block: gate all of required checks, tdd only new ones, report none; empty is gate, and tdd for detected checks.",
	}, {
		Group: "Checks", Key: "BASELINE_SCOPE", YAML: "test.baseline_scope",
		Kind: option.Enum, Default: "session", Values: []string{"global", "session", "task"}, Field: &o.BaselineScope,
		Help: "When to record which checks fail already: once for the project, for each run, or for each task.",
	}, {
		Group: "Checks", Key: "FAIL_FAST", YAML: "test.fail_fast",
		Kind: option.Bool, Default: "true", Field: &o.FailFast,
		Help: "Stop at the first check whose failure blocks, instead of running all.",
	}}
}
