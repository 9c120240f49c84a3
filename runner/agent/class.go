package agent

import (
	"time"

	"ralph/state"
)

// Class is the kind of end that a call to an agent came to.
type Class string

// The outcome classes. Their names are part of the outside contract.
const (
	ClassCompletedTurn    Class = "completed-turn"
	ClassUsageLimit       Class = "usage-limit"
	ClassSpendLimit       Class = "spend-limit"
	ClassRateLimited      Class = "rate-limited"
	ClassOverloaded       Class = "overloaded"
	ClassServerError      Class = "server-error"
	ClassNetwork          Class = "network"
	ClassAuth             Class = "auth"
	ClassNoCredit         Class = "no-credit"
	ClassDisabledByAdmin  Class = "disabled-by-admin"
	ClassBadModel         Class = "bad-model"
	ClassBadFlag          Class = "bad-flag"
	ClassContextTooLong   Class = "context-too-long"
	ClassMaxTurns         Class = "max-turns"
	ClassMaxBudget        Class = "max-budget"
	ClassRefusal          Class = "refusal"
	ClassPermissionDenied Class = "permission-denied"
	ClassQuestionAsked    Class = "question-asked"
	ClassEmptyOutput      Class = "empty-output"
	ClassNoFinalRecord    Class = "no-final-record"
	ClassHangSilent       Class = "hang-silent"
	ClassHangAfterResult  Class = "hang-after-result"
	ClassTimeoutWithWork  Class = "timeout-with-work"
	ClassTimeoutIdle      Class = "timeout-idle"
	ClassKilledBySignal   Class = "killed-by-signal"
	ClassCrash            Class = "crash"
	ClassStaleSession     Class = "stale-session"

	// ClassUnknown is no outcome: in a Pattern it marks text that means nothing.
	ClassUnknown Class = ""
)

// ClassInfo is one line of documentation.
type ClassInfo struct {
	Class   Class
	Meaning string
}

// Classes lists every outcome class, in the order of the documentation.
func Classes() []ClassInfo {
	return []ClassInfo{
		{ClassCompletedTurn, "the agent ended its turn with a final record and no error"},
		{ClassUsageLimit, "a usage window of the plan is used up; it opens again by itself"},
		{ClassSpendLimit, "a spending limit or cap is reached"},
		{ClassRateLimited, "too many requests or tokens a minute (HTTP 429)"},
		{ClassOverloaded, "the provider is overloaded (HTTP 529, no capacity)"},
		{ClassServerError, "the provider failed (HTTP 5xx) or answered with something unreadable"},
		{ClassNetwork, "no connection, or it was dropped in the middle"},
		{ClassAuth, "not logged in, or the key is missing, wrong or not allowed"},
		{ClassNoCredit, "the account has no credit or quota left"},
		{ClassDisabledByAdmin, "an administrator switched the account or its usage off"},
		{ClassBadModel, "the model does not exist or is not available to this account"},
		{ClassBadFlag, "the CLI refused its command line or its set-up"},
		{ClassContextTooLong, "the context does not fit into the model's window"},
		{ClassMaxTurns, "the agent stopped at its own bound on turns, calls or repetitions"},
		{ClassMaxBudget, "the agent stopped at its own bound on cost"},
		{ClassRefusal, "the model refused to answer"},
		{ClassPermissionDenied, "the turn ended, but the permission rules refused tool calls"},
		{ClassQuestionAsked, "the turn ended with a question to the user"},
		{ClassEmptyOutput, "the turn ended without any text or tool call"},
		{ClassNoFinalRecord, "the agent ended without a final record"},
		{ClassHangSilent, "the agent said nothing and called no tool until its time was up"},
		{ClassHangAfterResult, "the turn ended, but the agent did not exit and was stopped"},
		{ClassTimeoutWithWork, "the agent was at work when its time was up"},
		{ClassTimeoutIdle, "the agent was at work, then silent for too long"},
		{ClassKilledBySignal, "the agent was interrupted or killed"},
		{ClassCrash, "the agent failed in a way that nothing above explains"},
		{ClassStaleSession, "the session to resume does not exist any more"},
	}
}

// Success reports whether the turn counts: the agent came to its own end and
// what it said at the end is valid.
func (c Class) Success() bool {
	switch c {
	case ClassCompletedTurn, ClassHangAfterResult, ClassPermissionDenied, ClassQuestionAsked, ClassEmptyOutput:
		return true
	}
	return false
}

// Transient reports whether the same call may well succeed in a short while.
func (c Class) Transient() bool {
	switch c {
	case ClassRateLimited, ClassOverloaded, ClassServerError, ClassNetwork:
		return true
	}
	return false
}

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
