package rules

// ralph's exit codes. Scripts depend on them.
const (
	ExitComplete    = 0   // everything is done, and proven unless there is no check
	ExitError       = 1   // ralph itself failed: disk, bug, lost state
	ExitUsage       = 2   // bad flag, bad config, unusable plan
	ExitHalted      = 3   // circuit breaker, permission denials, integrity, a check that two tasks fail, a hook
	ExitCeiling     = 4   // iterations, duration or cost reached before completion
	ExitLocked      = 5   // another runner is alive in this project
	ExitAgent       = 6   // agent not installed, not logged in, no credit, disabled
	ExitLimited     = 7   // usage limit and --on-limit stop
	ExitClaimed     = 8   // the agent insists that it is done; plan or checks say no
	ExitReview      = 9   // everything is done as far as ralph can tell; a person has to look
	ExitInterrupted = 130 // SIGINT, abort or stop request
	ExitTerminated  = 143 // SIGTERM or SIGHUP
)

// ExitCode is one row of the documented table of exit codes.
type ExitCode struct {
	Code       int
	Name, When string
}

// ExitCodes lists every code that ralph ends with.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{ExitComplete, "complete", "everything is done, and the checks prove it; without any check, and with `TEST_MODE=report`, it is only done: \"completed, not proven\""},
		{ExitError, "error", "ralph itself failed (disk, bug, lost state)"},
		{ExitUsage, "usage", "bad flag, bad config, unusable plan"},
		{ExitHalted, "halted", "circuit breaker open, permission denials, integrity, the same failed check for two tasks, a hook"},
		{ExitCeiling, "ceiling", "iterations, duration, cost reached before completion"},
		{ExitLocked, "locked", "another run is active in this project (the message has its pid)"},
		{ExitAgent, "agent unusable", "not installed, not logged in, no credit, disabled by admin"},
		{ExitLimited, "limited", "usage limit, with `--on-limit stop` or a reset that is too far away"},
		{ExitClaimed, "claimed", "the agent says that it is done, but plan or checks say no; or every open task was put aside"},
		{ExitReview, "review", "everything is done as far as ralph can tell, but it needs your review: open findings, fewer tests than before, a check that still fails as it did before the run, one that was detected or configured and did not run or ran no test, an agent that contradicts the plan; accept with `ralph accept`. Or nothing can be done until you answer a question (`ralph questions`) or reopen a blocked task (`ralph task reopen`)"},
		{ExitInterrupted, "interrupted", "SIGINT, `ralph stop`, `ralph abort`"},
		{ExitTerminated, "terminated", "SIGTERM, SIGHUP"},
	}
}
