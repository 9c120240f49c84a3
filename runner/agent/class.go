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
	ClassCompletedTurn, ClassUsageLimit                = ending.CompletedTurn, ending.UsageLimit
	ClassSpendLimit, ClassRateLimited, ClassOverloaded = ending.SpendLimit, ending.RateLimited, ending.Overloaded
	ClassServerError, ClassNetwork, ClassAuth          = ending.ServerError, ending.Network, ending.Auth
	ClassNoCredit, ClassDisabledByAdmin, ClassBadModel = ending.NoCredit, ending.DisabledByAdmin, ending.BadModel
	ClassBadFlag, ClassContextTooLong, ClassMaxTurns   = ending.BadFlag, ending.ContextTooLong, ending.MaxTurns
	ClassMaxBudget, ClassRefusal                       = ending.MaxBudget, ending.Refusal
	ClassPermissionDenied, ClassQuestionAsked          = ending.PermissionDenied, ending.QuestionAsked
	ClassEmptyOutput, ClassNoFinalRecord               = ending.EmptyOutput, ending.NoFinalRecord
	ClassHangSilent, ClassHangAfterResult              = ending.HangSilent, ending.HangAfterResult
	ClassTimeoutWithWork, ClassTimeoutIdle             = ending.TimeoutWithWork, ending.TimeoutIdle
	ClassKilledBySignal, ClassCrash, ClassStaleSession = ending.KilledBySignal, ending.Crash, ending.StaleSession

	ClassUnknown = ending.Unknown // no outcome: in a Pattern it marks text that means nothing
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
