package rules

import (
	"slices"
	"time"

	"ralph/runner/rules/pace"
	"ralph/runner/turn"
	"ralph/state/option"
)

// Policy is what a user can say about when a run waits and when it ends.
type Policy struct {
	BreakerPolicy
	pace.Pacing

	CallsPerHour  int           // agent calls in one clock hour; at least 1
	TokensPerHour int64         // 0: off
	MaxIterations int           // 0: no bound; see BoundWithoutPlan
	MaxCost       float64       // US dollars for the run; 0: off
	MaxDuration   time.Duration // wall clock for the run; 0: off
	Until         string        // time of day at which the run ends, such as 07:30; empty: no bound
	OnLimit       string        // "wait" or "stop"

	CompletionClaims int // consecutive claims that count
	MaxRetries       int // failed checks for one task before it is put aside; 0: no bound
	MaxPerTask       int // turns for one task before it is put aside; 0: no bound

	Delay        time.Duration // between two iterations
	QuestionWait time.Duration // for answers, when nothing else can be done
	// ErrorPause is the wait after a failed call, doubled with every further one; 0: none.
	ErrorPause time.Duration
	AntiCheat  string // turn.AnswerWarn, turn.AnswerRevert or turn.AnswerHalt
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
		Help: "Iterations allowed in one run; 0 means no limit, or 10 for a run without a plan and without another limit.",
	}, {
		Group: "Limits", Key: "MAX_DURATION", Flag: "max-duration", Arg: "D", YAML: "limits.duration",
		Kind: option.Duration, Default: "0s", Min: "0s", Max: "8760h", Field: &o.MaxDuration,
		Help: "Time that one run may take; 0 means no limit.",
	}, {
		Group: "Limits", Key: "UNTIL", Flag: "until", Arg: "TIME", YAML: "limits.until", Kind: option.Clock,
		Field: &o.Until,
		Help:  "Time of day at which a run ends, such as 07:30; empty means no limit.",
	}, {
		Group: "Limits", Key: "MAX_COST_USD", Flag: "max-cost", Arg: "USD", YAML: "limits.cost_usd",
		Kind: option.USD, Default: "0", Min: "0", Max: "1000000", Field: &o.MaxCost,
		Help: "US dollars that one run may cost, by the agent's own estimate, or ralph's for calls that are cut off; 0 means no limit.",
	}, {
		Group: "Limits", Key: "ON_LIMIT", Flag: "on-limit", Arg: "wait|stop", YAML: "limits.on_limit",
		Kind: option.Enum, Default: "wait", Values: []string{"wait", "stop"}, Field: &o.OnLimit,
		Help: "What to do when the agent reaches its usage limit: wait for the reset, for a day at most, or stop.",
	}, {
		Group: "Limits", Key: "QUESTION_WAIT", YAML: "limits.question_wait",
		Kind: option.Duration, Default: "30m", Min: "0s", Max: "720h", Field: &o.QuestionWait,
		Help: "How long a run waits for your answers when nothing else can be done; " +
			"after that it ends with exit code 9.",
	}, {
		Group: "Limits", Key: "ITERATION_DELAY", Flag: "delay", Arg: "D", YAML: "limits.delay",
		Kind: option.Duration, Default: "0s", Min: "0s", Max: "24h", Field: &o.Delay,
		Help: "Pause between two iterations.",
	}, {
		Group: "Limits", Key: "COOLDOWN_ON_ERROR", YAML: "limits.cooldown_on_error",
		Kind: option.Duration, Default: "5s", Min: "0s", Max: "24h", Field: &o.ErrorPause,
		Help: "Wait after a failed call; doubles with each further failure, up to 10 minutes; 0s means no wait.",
	}, {
		Group: "Prompt and plan", Key: "COMPLETION_CLAIMS", YAML: "plan.completion_claims",
		Kind: option.Int, Default: "2", Min: "1", Max: "100", Field: &o.CompletionClaims,
		Help: "Consecutive signals of completion that complete a run without a plan, and stop a run that has open tasks and closes none.",
	}, {
		Group: "Limits", Key: "MAX_ITERATIONS_PER_TASK", YAML: "limits.iterations_per_task",
		Kind: option.Int, Default: "10", Min: "0", Max: "100000", Field: &o.MaxPerTask,
		Help: "Developer iterations that one task may take before ralph puts it aside; 0 means no limit. Reviews do not count.",
	}, {
		Group: "Checks", Key: "MAX_RETRIES", YAML: "test.max_retries",
		Kind: option.Int, Default: "3", Min: "0", Max: "100", Field: &o.MaxRetries,
		Help: "How often ralph retries a task after a failed check, or reviewers may refuse it, before ralph puts it aside; 0 means no limit.",
	}, {
		Group: "Checks", Key: "ANTI_CHEAT", YAML: "integrity.anti_cheat",
		Kind: option.Enum, Default: turn.AnswerRevert, Values: []string{turn.AnswerWarn, turn.AnswerRevert, turn.AnswerHalt},
		Trust: true, Safe: []string{turn.AnswerRevert, turn.AnswerHalt}, Field: &o.AntiCheat,
		Help: "What ralph does about findings of the audit: warn tells you and the agent, revert also takes back ticks that were not earned, halt also ends the run.",
	}}, o.Pacing.Options(), o.BreakerPolicy.Options())
}
