package agent

import (
	"time"

	"ralph/runner/agent/ending"
	"ralph/state"
)

// Class is how a call to an agent ended.
type Class = ending.Class

// The outcome classes; see Classes for what they mean.
const (
	ClassCompletedTurn    = ending.CompletedTurn
	ClassUsageLimit       = ending.UsageLimit
	ClassSpendLimit       = ending.SpendLimit
	ClassRateLimited      = ending.RateLimited
	ClassOverloaded       = ending.Overloaded
	ClassServerError      = ending.ServerError
	ClassNetwork          = ending.Network
	ClassAuth             = ending.Auth
	ClassNoCredit         = ending.NoCredit
	ClassDisabledByAdmin  = ending.DisabledByAdmin
	ClassBadModel         = ending.BadModel
	ClassBadFlag          = ending.BadFlag
	ClassContextTooLong   = ending.ContextTooLong
	ClassMaxTurns         = ending.MaxTurns
	ClassMaxBudget        = ending.MaxBudget
	ClassRefusal          = ending.Refusal
	ClassPermissionDenied = ending.PermissionDenied
	ClassQuestionAsked    = ending.QuestionAsked
	ClassEmptyOutput      = ending.EmptyOutput
	ClassNoFinalRecord    = ending.NoFinalRecord
	ClassHangSilent       = ending.HangSilent
	ClassHangAfterResult  = ending.HangAfterResult
	ClassTimeoutWithWork  = ending.TimeoutWithWork
	ClassTimeoutIdle      = ending.TimeoutIdle
	ClassKilledBySignal   = ending.KilledBySignal
	ClassCrash            = ending.Crash
	ClassStaleSession     = ending.StaleSession
	ClassUnknown          = ending.Unknown // no outcome: in a Pattern it marks text that means nothing
)

// Classes lists every outcome class, in the order of the documentation.
func Classes() []ending.Info { return ending.Classes() }

// Outcome is how a call ended: its class and the facts behind it.
type Outcome struct {
	Class    Class  `json:"class"`
	Reason   string `json:"reason"`             // one line for people
	Evidence string `json:"evidence,omitempty"` // the record or line that decided, shortened; may be empty
	// Limit is set for usage and spending limits.
	Limit *state.Limit `json:"limit,omitempty"`
	// ResetsAt is when a limit ends; zero: unknown.
	ResetsAt time.Time `json:"resets_at,omitzero"`
	// RetryAfter is the pause that the provider asked for; zero: none.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
}
