package rules

import "ralph/state"

// The exit codes of state, for package runner.
const (
	ExitAgent       = state.ExitAgent
	ExitCeiling     = state.ExitCeiling
	ExitClaimed     = state.ExitClaimed
	ExitComplete    = state.ExitComplete
	ExitHalted      = state.ExitHalted
	ExitInterrupted = state.ExitInterrupted
	ExitLimited     = state.ExitLimited
	ExitReview      = state.ExitReview
	ExitTerminated  = state.ExitTerminated
	ExitUsage       = state.ExitUsage
)

// RulePace is the rule by which a run waits for PACE.
const RulePace = state.RulePace
