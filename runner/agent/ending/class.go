// Package ending has the outcome classes of calls to agents, and recognizes them
// in the codes and error texts of agent CLIs.
package ending

import "slices"

// Class is how a call to an agent ended.
type Class string

// The outcome classes. Their names are part of the outside contract.
const (
	CompletedTurn    Class = "completed-turn"
	UsageLimit       Class = "usage-limit"
	SpendLimit       Class = "spend-limit"
	RateLimited      Class = "rate-limited"
	Overloaded       Class = "overloaded"
	ServerError      Class = "server-error"
	Network          Class = "network"
	Auth             Class = "auth"
	NoCredit         Class = "no-credit"
	DisabledByAdmin  Class = "disabled-by-admin"
	BadModel         Class = "bad-model"
	BadFlag          Class = "bad-flag"
	ContextTooLong   Class = "context-too-long"
	MaxTurns         Class = "max-turns"
	MaxBudget        Class = "max-budget"
	Refusal          Class = "refusal"
	PermissionDenied Class = "permission-denied"
	QuestionAsked    Class = "question-asked"
	EmptyOutput      Class = "empty-output"
	NoFinalRecord    Class = "no-final-record"
	HangSilent       Class = "hang-silent"
	HangAfterResult  Class = "hang-after-result"
	TimeoutWithWork  Class = "timeout-with-work"
	TimeoutIdle      Class = "timeout-idle"
	Repeating        Class = "repeating"
	KilledBySignal   Class = "killed-by-signal"
	Crash            Class = "crash"
	StaleSession     Class = "stale-session"

	// Unknown is not an outcome. In a Pattern it marks text to ignore.
	Unknown Class = ""
)

// Info documents a class.
type Info struct {
	Class   Class
	Meaning string
}

// Classes lists every outcome class, in the order of the documentation.
func Classes() []Info {
	return []Info{
		{CompletedTurn, "the agent ended its turn with a final record and no error"},
		{UsageLimit, "a usage window of the subscription is used up; it resets after a while"},
		{SpendLimit, "a spending limit or cap is reached"},
		{RateLimited, "too many requests or tokens per minute (HTTP 429)"},
		{Overloaded, "the provider is overloaded"},
		{ServerError, "the provider failed (HTTP 5xx) or answered with something unreadable"},
		{Network, "no connection, or it was dropped in the middle"},
		{Auth, "not logged in, or the key is missing, wrong or not allowed"},
		{NoCredit, "the account has no credit or quota left"},
		{DisabledByAdmin, "an administrator switched the account or its usage off"},
		{BadModel, "the model does not exist or is not available to this account"},
		{BadFlag, "the CLI refused its command line or its configuration"},
		{ContextTooLong, "the context does not fit into the model's window"},
		{MaxTurns, "the agent stopped at its own limit on turns, calls, repetitions or output"},
		{MaxBudget, "the agent stopped at its own limit on cost"},
		{Refusal, "the model refused to answer"},
		{PermissionDenied, "the turn ended, but the permission rules refused tool calls"},
		{QuestionAsked, "the turn ended with a question to the user"},
		{EmptyOutput, "the turn ended without any text or tool call"},
		{NoFinalRecord, "the agent ended without a final record"},
		{HangSilent, "the agent said nothing and called no tool until its time was up; perhaps its CLI waited for the provider"},
		{HangAfterResult, "the turn ended, but the agent did not exit and was stopped"},
		{TimeoutWithWork, "the agent was at work when its time was up"},
		{TimeoutIdle, "the agent was at work, then silent for too long"},
		{Repeating, "the agent made the same calls again and again, with the same answers, until ralph ended it"},
		{KilledBySignal, "the agent was interrupted or killed"},
		{Crash, "the agent's program ended with an error"},
		{StaleSession, "the session to resume no longer exists"},
	}
}

// Meaning explains the class in one line.
func (c Class) Meaning() string {
	for _, i := range Classes() {
		if i.Class == c {
			return i.Meaning
		}
	}
	return string(c)
}

// Success reports whether the agent ended the turn by itself, so that its final
// message counts.
func (c Class) Success() bool {
	return slices.Contains([]Class{CompletedTurn, HangAfterResult, PermissionDenied, QuestionAsked, EmptyOutput}, c)
}

// Fatal reports whether only a person can remove the cause.
func (c Class) Fatal() bool {
	return slices.Contains([]Class{Auth, NoCredit, DisabledByAdmin, BadModel, BadFlag}, c)
}

// Transient reports whether the same call may succeed soon.
func (c Class) Transient() bool {
	return slices.Contains([]Class{RateLimited, Overloaded, ServerError, Network}, c)
}
