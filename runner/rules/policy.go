package rules

import (
	"slices"
	"time"

	"ralph/config/option"
	"ralph/runner/rules/hours"
)

// Policy is what a user can say about when a run waits and when it ends.
type Policy struct {
	BreakerPolicy
	hours.Hours

	CallsPerHour  int           // agent calls in one clock hour; at least 1
	TokensPerHour int64         // 0: off
	MaxIterations int           // 0: no bound
	MaxCost       float64       // US dollars for the run; 0: off
	MaxDuration   time.Duration // wall clock for the run; 0: off
	OnLimit       string        // "wait" or "stop"

	CompletionClaims int // consecutive claims that count
	MaxRetries       int // failed checks for one task before it is put aside; 0: no bound
	MaxPerTask       int // turns for one task before it is put aside; 0: no bound

	Delay time.Duration // between two iterations
	// ErrorPause is the wait after a failed call, doubled with every further one; 0: none.
	ErrorPause time.Duration
	AntiCheat  string // turn.AnswerWarn, turn.AnswerRevert or turn.AnswerHalt
}

// BreakerPolicy says when the circuit breaker opens and closes. Thresholds are
// in iterations.
type BreakerPolicy struct {
	NoProgressThreshold    int
	SameErrorThreshold     int
	DenialThreshold        int
	OutputDeclineThreshold int // percent
	Cooldown               time.Duration
	AutoReset              bool // close it when a run starts
}

// Options are the rows of the option table that fill o.
func (o *Policy) Options() []option.Row {
	return slices.Concat([]option.Row{{
		Group: "Limits", Key: "MAX_CALLS_PER_HOUR", Flag: "calls", Short: "c", Arg: "N", YAML: "limits.calls_per_hour",
		Kind: option.Int, Default: "100", Min: "1", Max: "1000000", Field: &o.CallsPerHour,
		Help: "Agent calls allowed in one clock hour.",
	}, {
		Group: "Limits", Key: "MAX_TOKENS_PER_HOUR", Flag: "max-tokens", Arg: "N", YAML: "limits.tokens_per_hour",
		Kind: option.Int, Default: "0", Min: "0", Max: "1000000000000", Field: &o.TokensPerHour,
		Help: "Tokens allowed in one clock hour; 0 means no limit.",
	}, {
		Group: "Limits", Key: "MAX_ITERATIONS", Flag: "max-iterations", Arg: "N", YAML: "limits.iterations",
		Kind: option.Int, Default: "0", Min: "0", Max: "1000000", Field: &o.MaxIterations,
		Help: "Iterations allowed in one run; 0 means no limit.",
	}, {
		Group: "Limits", Key: "MAX_DURATION", Flag: "max-duration", Arg: "D", YAML: "limits.duration",
		Kind: option.Duration, Default: "0s", Min: "0s", Max: "8760h", Field: &o.MaxDuration,
		Help: "Time that one run may take; 0 means no limit.",
	}, {
		Group: "Limits", Key: "MAX_COST_USD", Flag: "max-cost", Arg: "USD", YAML: "limits.cost_usd",
		Kind: option.USD, Default: "0", Min: "0", Max: "1000000", Field: &o.MaxCost,
		Help: "US dollars that one run may cost, by the agent's own estimate; 0 means no limit.",
	}, {
		Group: "Limits", Key: "ON_LIMIT", Flag: "on-limit", Arg: "wait|stop", YAML: "limits.on_limit",
		Kind: option.Enum, Default: "wait", Values: []string{"wait", "stop"}, Field: &o.OnLimit,
		Help: "What to do when the agent reaches its usage limit: wait for the reset, or stop.",
	}, {
		Group: "Limits", Key: "ITERATION_DELAY", Flag: "delay", Arg: "D", YAML: "limits.delay",
		Kind: option.Duration, Default: "0s", Min: "0s", Max: "24h", Field: &o.Delay,
		Help: "Pause between two iterations.",
	}, {
		Group: "Limits", Key: "COOLDOWN_ON_ERROR", YAML: "limits.cooldown_on_error",
		Kind: option.Duration, Default: "5s", Min: "0s", Max: "24h", Field: &o.ErrorPause,
		Help: "Wait after a failed call, doubled after each further one up to 10 minutes; 0s means none.",
	}, {
		Group: "Prompt and plan", Key: "COMPLETION_CLAIMS", YAML: "plan.completion_claims",
		Kind: option.Int, Default: "2", Min: "1", Max: "100", Field: &o.CompletionClaims,
		Help: "Consecutive signals of completion after which a run without a plan completes, and a run with open tasks stops.",
	}, {
		Group: "Limits", Key: "MAX_ITERATIONS_PER_TASK", YAML: "limits.iterations_per_task",
		Kind: option.Int, Default: "10", Min: "0", Max: "100000", Field: &o.MaxPerTask,
		Help: "Iterations that one task may take before ralph puts it aside; 0 means no limit.",
	}, {
		Group: "Checks", Key: "MAX_RETRIES", YAML: "test.max_retries",
		Kind: option.Int, Default: "3", Min: "0", Max: "100", Field: &o.MaxRetries,
		Help: "Retries of a task after a required check failed, before ralph puts the task aside; 0 means no limit.",
	}, {
		Group: "Checks", Key: "ANTI_CHEAT", YAML: "integrity.anti_cheat",
		Kind: option.Enum, Default: "revert", Values: []string{"warn", "revert", "halt"},
		Trust: true, Safe: []string{"revert", "halt"}, Field: &o.AntiCheat,
		Help: "What ralph does about findings of the audit: warn tells the agent and you, revert also takes back ticks that were not earned, halt ends the run.",
	}}, o.Hours.Options(), o.BreakerPolicy.Options())
}

// Options are the rows of the option table that fill o.
func (o *BreakerPolicy) Options() []option.Row {
	return []option.Row{{
		Group: "Circuit breaker", Key: "CB_NO_PROGRESS_THRESHOLD", YAML: "breaker.no_progress",
		Kind: option.Int, Default: "3", Min: "1", Max: "1000", Field: &o.NoProgressThreshold,
		Help: "Consecutive iterations without progress that open the circuit breaker.",
	}, {
		Group: "Circuit breaker", Key: "CB_SAME_ERROR_THRESHOLD", YAML: "breaker.same_error",
		Kind: option.Int, Default: "5", Min: "1", Max: "1000", Field: &o.SameErrorThreshold,
		Help: "Consecutive iterations with the same error that open the circuit breaker.",
	}, {
		Group: "Circuit breaker", Key: "CB_PERMISSION_DENIAL_THRESHOLD", YAML: "breaker.permission_denials",
		Kind: option.Int, Default: "2", Min: "1", Max: "1000", Field: &o.DenialThreshold,
		Help: "Consecutive iterations with a denied tool call that halt the run.",
	}, {
		Group: "Circuit breaker", Key: "CB_OUTPUT_DECLINE_THRESHOLD", YAML: "breaker.output_decline",
		Kind: option.Int, Default: "70", Min: "1", Max: "100", Field: &o.OutputDeclineThreshold,
		Help: "Percent by which the agent's answers must shrink, without progress, to open the circuit breaker.",
	}, {
		Group: "Circuit breaker", Key: "CB_COOLDOWN_MINUTES", YAML: "breaker.cooldown",
		Kind: option.Minutes, Default: "30", Min: "0", Max: "10080", Field: &o.Cooldown,
		Help: "Minutes after which an open circuit breaker allows another try; 0 means immediately.",
	}, {
		Group: "Circuit breaker", Key: "CB_AUTO_RESET", Flag: "auto-reset-circuit", YAML: "breaker.auto_reset",
		Kind: option.Bool, Default: "false", Field: &o.AutoReset,
		Help: "Close the circuit breaker when a run starts.",
	}}
}
