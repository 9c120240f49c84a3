package state

import "fmt"

// Ending says how the run of a Status ended, given that its runner is gone.
type Ending string

// The endings.
const (
	EndingNone        Ending = ""            // nothing has run here
	EndingKilled      Ending = "killed"      // the runner died: its status still says running, waiting or paused
	EndingTerminated  Ending = "terminated"  // by SIGTERM or SIGHUP, as at a reboot
	EndingInterrupted Ending = "interrupted" // by a person: Ctrl-C, ralph stop, ralph abort
	EndingByRule      Ending = "stopped"     // a rule stopped it before it was complete
	EndingComplete    Ending = "completed"
	EndingUndone      Ending = "undone" // it was completed, and a person has taken a part of it back
)

// Word is the status as people are told: what ends with exit code 9 is in review, also when
// questions were left. The status itself is for programs.
func (s Status) Word() string {
	if s.Status == StatusStopped && s.ExitCode == ExitReview {
		return StatusReview
	}
	return s.Status
}

// NoCheckRan is why a run in a project without checks is not proven.
const NoCheckRan = "no check ran"

// Undone is why a run that was proven is not any more.
const Undone = "work was undone since"

// NotProven says of a completed run in the same words everywhere that it is not proven; empty: it is, or the status is
// another one. why is that of Status.Unproven.
func NotProven(status, why string) string {
	if status != StatusCompleted || why == "" {
		return ""
	}
	return StatusCompleted + ", not proven: " + why
}

// Ending says how the run ended. A running, waiting or paused status means that the
// runner was killed, unless it is alive: ask Reader.Owner first.
func (s Status) Ending() Ending {
	switch {
	case s.RunID == "":
		return EndingNone
	case s.Active():
		return EndingKilled
	case (s.Status == StatusCompleted || s.Status == StatusReview) && s.Undone > 0:
		return EndingUndone
	case s.Status == StatusCompleted || s.Status == StatusReview:
		return EndingComplete
	case s.Status == StatusStopped && s.ExitCode == ExitTerminated:
		return EndingTerminated
	case ByRequest(s.ExitReason):
		return EndingInterrupted
	}
	return EndingByRule
}

// ByRequest reports whether a run with this exit reason was ended by a person.
func ByRequest(exitReason string) bool { return exitReason == "interrupted" || exitReason == "aborted" }

// Ended says in the same words everywhere which rule ended a run, and with which exit code.
// The exit_reason of status.json is for programs.
func Ended(rule string, exit int) string { return fmt.Sprintf("rule %s, exit code %d", rule, exit) }

// Iteration returns the number of the iteration that is under way, or else of the last one; 0 before the first.
func (s Status) Iteration() int {
	n := s.LoopCount
	if s.Status == StatusRunning && s.Rule == "" && !s.IterationStartedAt.IsZero() {
		n++ // LoopCount counts it once a rule has decided
	}
	return n
}

// Active reports whether the status is running, waiting or paused.
func (s Status) Active() bool {
	return s.Status == StatusRunning || s.Status == StatusWaiting || s.Status == StatusPaused
}

// Unfinished reports whether there was a run, and it did not complete.
func (e Ending) Unfinished() bool { return e != EndingNone && e != EndingComplete }

// Unsettled reports whether a person or the next run still has something to do with what the run left: it did
// not complete, or nobody has accepted it yet.
func (s Status) Unsettled() bool { return s.Ending().Unfinished() || s.Status == StatusReview }

// action is the word for the state of the run that scripts for other ralphs test.
func (s Status) action() string {
	switch s.ExitReason {
	case "":
		if s.Status == StatusWaiting && s.Rule == RuleUsageLimit {
			return "api_limit"
		}
		return "executing"
	case "stagnation_detected", "same_error", "output_decline":
		if s.Status != StatusHalted { // every open task was put aside
			return "failed"
		}
		return "circuit_breaker_open"
	case "permission_denied", "integrity_failure":
		return s.ExitReason
	case "usage_limit":
		return "api_limit_exit"
	case "interrupted", "aborted":
		return "interrupted"
	case "agent_unusable", "plan_unusable", "claimed_incomplete", "error":
		return "failed"
	}
	if s.Status == StatusHalted {
		return "failed"
	}
	return "graceful_exit"
}
