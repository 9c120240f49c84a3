package rules

import "time"

// Options is everything that a run can be told. The config package fills it;
// its table of options documents names, defaults and ranges.
type Options struct {
	CallsPerHour  int           // agent calls in one clock hour; at least 1
	TokensPerHour int64         // 0: off
	MaxIterations int           // 0: no bound
	MaxCost       float64       // US dollars for the run; 0: off
	MaxDuration   time.Duration // wall clock for the run; 0: off
	Timeout       time.Duration // one agent call
	IdleTimeout   time.Duration // silence of the agent; 0: off

	Agent          string   // row of the agent table
	FallbackAgents []string // who works while Agent is under a usage limit, in this order
	AgentCmd       string   // command line that replaces the row's program; empty: the row's
	Model          string   // empty: the agent's own default
	AllowedTools   []string // entries in the agent's own syntax
	PermissionMode string   // "allowed-tools" or "bypass"

	EnvExclude []string // what agent and checks do not get of the environment; see agent.EnvFilter

	Continue      bool // resume ralph's own agent session
	SessionExpiry time.Duration

	NoProgressThreshold    int
	SameErrorThreshold     int
	DenialThreshold        int
	OutputDeclineThreshold int // percent
	Cooldown               time.Duration
	AutoReset              bool // close the breaker when a run starts

	Delay            time.Duration // between two iterations
	OnLimit          string        // "wait" or "stop"
	CompletionClaims int
	OptionalSections []string

	PromptFile string // empty: found
	PlanFile   string // empty: found

	TestCommand  string // required checks, run after the agent's turn; empty: none
	BuildCommand string
	LintCommand  string
	DetectChecks bool   // find checks by the project's files when none is configured
	TestMode     string // "gate", "tdd" or "report"; empty: gate, or tdd for detected checks
	// BaselineScope is when it is noted what is red already: "global" once for
	// the project, "session" for each run, "task" for each task.
	BaselineScope string
	FailFast      bool   // stop at the first failing check
	MaxRetries    int    // failed checks for one task before it is put aside; 0: no bound
	AntiCheat     string // "warn", "revert" or "halt"
	AutoCommit    bool   // commit what the agent left over when the checks are green
	CommitPrefix  string // of those commits' messages

	Verbose bool
	Notify  bool
}
