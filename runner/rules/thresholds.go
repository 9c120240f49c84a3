package rules

import (
	"time"

	"ralph/state/option"
)

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
