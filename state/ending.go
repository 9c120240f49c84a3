package state

// Ending says how the run of a Status ended, given that its runner is gone.
type Ending string

// The endings.
const (
	EndingNone        Ending = ""            // nothing has run here
	EndingKilled      Ending = "killed"      // it had no time for a last word
	EndingTerminated  Ending = "terminated"  // by SIGTERM or SIGHUP, as at a reboot
	EndingInterrupted Ending = "interrupted" // by a person: Ctrl-C, ralph stop, ralph abort
	EndingByRule      Ending = "stopped"     // a rule stopped it before it was complete
	EndingComplete    Ending = "completed"
)

// exitTerminated is the exit code after SIGTERM; see the table of exit codes.
const exitTerminated = 143

// Ending is the one answer to "was the last run unfinished?". While the runner
// lives, a run that works, waits or is paused reads as killed: ask the lock first.
func (s Status) Ending() Ending {
	byRequest := s.ExitReason == "interrupted" || s.ExitReason == "aborted"
	switch {
	case s.RunID == "":
		return EndingNone
	case s.Active():
		return EndingKilled
	case s.Status == StatusCompleted:
		return EndingComplete
	case s.Status == StatusStopped && s.ExitCode == exitTerminated:
		return EndingTerminated
	case byRequest:
		return EndingInterrupted
	}
	return EndingByRule
}

// Active reports whether the status is one of a run that goes on: it works,
// waits or is paused.
func (s Status) Active() bool {
	return s.Status == StatusRunning || s.Status == StatusWaiting || s.Status == StatusPaused
}

// Unfinished reports whether a run was started that did not complete.
func (e Ending) Unfinished() bool { return e != EndingNone && e != EndingComplete }

// CutOff reports whether the run may have ended in the middle of an agent call.
func (e Ending) CutOff() bool {
	return e == EndingKilled || e == EndingTerminated || e == EndingInterrupted
}
