package state

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
)

// exitTerminated is the exit code after SIGTERM; see the table of exit codes.
const exitTerminated = 143

// Ending says how the run ended. A running, waiting or paused status means that the
// runner was killed, unless it is alive: ask Reader.Owner first.
func (s Status) Ending() Ending {
	byRequest := s.ExitReason == "interrupted" || s.ExitReason == "aborted"
	switch {
	case s.RunID == "":
		return EndingNone
	case s.Active():
		return EndingKilled
	case s.Status == StatusCompleted || s.Status == StatusReview:
		return EndingComplete
	case s.Status == StatusStopped && s.ExitCode == exitTerminated:
		return EndingTerminated
	case byRequest:
		return EndingInterrupted
	}
	return EndingByRule
}

// Active reports whether the status is running, waiting or paused.
func (s Status) Active() bool {
	return s.Status == StatusRunning || s.Status == StatusWaiting || s.Status == StatusPaused
}

// Unfinished reports whether there was a run, and it did not complete.
func (e Ending) Unfinished() bool { return e != EndingNone && e != EndingComplete }

// CutOff reports whether the run may have ended in the middle of an agent call.
func (e Ending) CutOff() bool {
	return e == EndingKilled || e == EndingTerminated || e == EndingInterrupted
}
