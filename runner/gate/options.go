package gate

import (
	"strings"

	"ralph/state/option"
)

// CheckOptions are the user's options for checks.
type CheckOptions struct {
	TestCommand               string // required, run after the agent's turn; empty: none
	BuildCommand              string
	LintCommand               string
	TypesCommand, FastCommand string // types, beside the build; a lint of seconds, before all others
	DetectChecks              bool   // without configured checks, detect them from the project's files
	TestMode                  string // a Mode
	BaselineScope             string // see Known.Scope
	FailFast                  bool   // stop at the first failure that blocks
}

// Options returns the rows of the option table that fill o.
func (o *CheckOptions) Options() []option.Row {
	command := func(name, does string, field *string) option.Row {
		return option.Row{Group: "Checks", Key: strings.ToUpper(name) + "_COMMAND", YAML: "commands." + name, Kind: option.String,
			YAMLAliases: []string{name + ".command"}, Trust: true, Field: field,
			Help: "Shell command that " + does + " after the agent's turn; empty means none.",
		}
	}
	return []option.Row{
		command("test", "tests the project", &o.TestCommand), command("build", "builds the project", &o.BuildCommand),
		command("lint", "lints the project", &o.LintCommand),
		command("typecheck", "checks types after the build and", &o.TypesCommand),
		command("lint_fast", "lints in seconds, before the other checks and", &o.FastCommand), {
			Group: "Checks", Key: "DETECT_CHECKS", YAML: "test.detect",
			Kind: option.Bool, Default: "true", Field: &o.DetectChecks,
			Help: "Detect checks from the project's files when none are configured.",
		}, {
			Group: "Checks", Key: "TEST_MODE", YAML: "test.mode",
			Kind: option.Enum, Default: string(ModeAuto), Values: []string{"auto", "gate", "tdd", "report"}, Trust: true,
			Safe: []string{"auto", "gate", "tdd"}, Field: &o.TestMode, Spellings: map[string]string{"baseline": "auto"},
			Help: "Which failures of required checks block: auto means gate for a check that is green when the run begins, and " +
				"for one that is red the end of the run, and a task only by what it breaks and by its own tests; gate means all, " +
				"tdd only those of tests that passed before, report none.",
		}, {
			Group: "Checks", Key: "BASELINE_SCOPE", YAML: "test.baseline_scope",
			Kind: option.Enum, Default: "session", Values: []string{"global", "session", "task"}, Field: &o.BaselineScope,
			Help: "When ralph records which checks already fail: once per project (global), per run (session) or per task.",
		}, {
			Group: "Checks", Key: "FAIL_FAST", YAML: "test.fail_fast",
			Kind: option.Bool, Default: "true", Field: &o.FailFast,
			Help: "Stop at the first check that blocks instead of running all of them.",
		}}
}
