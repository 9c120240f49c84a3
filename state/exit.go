package state

// The exit codes of ralph. Scripts depend on them. Each has a row in ExitCodes.
const (
	ExitComplete    = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitHalted      = 3
	ExitCeiling     = 4
	ExitLocked      = 5
	ExitAgent       = 6
	ExitLimited     = 7
	ExitClaimed     = 8
	ExitReview      = 9
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// ExitCode is a row of the table of exit codes, which the README shows.
type ExitCode struct {
	Code   int
	Name   string
	When   string // Markdown
	Status string // of a run that ends with it
	Notice string // the event of NOTIFY_ON that a run's end with it is
}

// ExitCodes lists every code that ralph ends with.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{ExitComplete, "complete", "everything is done, and the checks prove it; without any check, and with `TEST_MODE=report`, it is only done: \"completed, not proven\"", StatusCompleted, NoticeEnded},
		{ExitError, "error", "ralph itself failed (disk, bug, lost state)", StatusFailed, NoticeHalted},
		{ExitUsage, "usage", "bad flag, bad config, unusable plan", StatusFailed, NoticeHalted},
		{ExitHalted, "halted", "circuit breaker open, permission denials, integrity, the same failed check for two tasks, a hook", StatusHalted, NoticeHalted},
		{ExitCeiling, "ceiling", "iterations, duration, cost reached before completion", StatusStopped, NoticeEnded},
		{ExitLocked, "locked", "another run is active in this project (the message has its pid)", StatusFailed, NoticeHalted},
		{ExitAgent, "agent unusable", "not installed, not logged in, no credit, disabled by admin", StatusFailed, NoticeHalted},
		{ExitLimited, "limited", "usage limit, with `--on-limit stop` or a reset that is too far away", StatusStopped, NoticeHalted},
		{ExitClaimed, "claimed", "the agent says that it is done, but plan or checks say no; or every open task was put aside", StatusStopped, NoticeHalted},
		{ExitReview, "review", "everything is done as far as ralph can tell, but it needs your review: open findings, fewer tests than before, a check that still fails as it did before the run, one that was detected or configured and did not run or ran no test, an agent that contradicts the plan; accept with `ralph accept`. Or nothing can be done until you answer a question (`ralph questions`) or reopen a blocked task (`ralph task reopen`)", StatusReview, NoticeReview},
		{ExitInterrupted, "interrupted", "SIGINT, `ralph stop`, `ralph abort`", StatusStopped, NoticeEnded},
		{ExitTerminated, "terminated", "SIGTERM, SIGHUP", StatusStopped, NoticeEnded},
	}
}

// The events of NOTIFY_ON that the end of a run can be.
const (
	NoticeEnded  = "ended"
	NoticeHalted = "halted" // a person has to do something before it can continue
	NoticeReview = "review"
)

// ExitOf is the row of an exit code. An unknown code gets that of ExitError.
func ExitOf(code int) ExitCode {
	rows := ExitCodes()
	for _, row := range rows {
		if row.Code == code {
			return row
		}
	}
	return rows[ExitError]
}
