package gate

// CheckOptions is what a user can say about checks.
type CheckOptions struct {
	TestCommand  string // required, run after the agent's turn; empty: none
	BuildCommand string
	LintCommand  string
	DetectChecks bool   // find checks by the project's files when none is configured
	TestMode     string // a Mode; empty: ModeGate, or ModeTDD for detected checks
	// BaselineScope is a Scope: ScopeGlobal once for the project, ScopeSession for
	// each run, ScopeTask for each task.
	BaselineScope string
	FailFast      bool // stop at the first failing check
}
