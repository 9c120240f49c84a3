package summary

import (
	"fmt"

	"ralph/state"
)

// Effect says when a request takes effect, if not at once or not at all, and names what
// a skip is about. It continues a sentence.
func Effect(q state.Request, s state.Status) string {
	running, waiting := s.Status == state.StatusRunning, s.Status == state.StatusWaiting
	beside := running && len(s.Slots) > 1
	switch {
	case beside && q == state.RequestSkip:
		return fmt.Sprintf(" all %d current turns", len(s.Slots))
	case beside && (q == state.RequestPause || q == state.RequestStop):
		return " after the current turns"
	case running && (q == state.RequestPause || q == state.RequestStop):
		return " after this iteration"
	case waiting && q == state.RequestPause:
		return " after this wait"
	case waiting && q == state.RequestResume && s.Rule == state.RuleHourly:
		return ", but it waits until its calls or tokens are counted anew"
	case waiting && q == state.RequestResume && s.Rule == state.RuleQuestion:
		return ", but it waits until you answer: ralph questions"
	case q != state.RequestSkip || s.Task.Title == "":
		return ""
	case running:
		return fmt.Sprintf(" %.80q", s.Task.Title)
	}
	return fmt.Sprintf(" %.80q, which comes next", s.Task.Title)
}
