package rules

import "time"

// Policy is what a user can say about when a run waits and when it ends.
type Policy struct {
	BreakerPolicy

	CallsPerHour  int           // agent calls in one clock hour; at least 1
	TokensPerHour int64         // 0: off
	MaxIterations int           // 0: no bound
	MaxCost       float64       // US dollars for the run; 0: off
	MaxDuration   time.Duration // wall clock for the run; 0: off
	OnLimit       string        // "wait" or "stop"

	CompletionClaims int // consecutive claims that count
	MaxRetries       int // failed checks for one task before it is put aside; 0: no bound

	Delay     time.Duration // between two iterations
	AntiCheat string        // turn.AnswerWarn, turn.AnswerRevert or turn.AnswerHalt
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
