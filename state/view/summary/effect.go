package summary

import (
	"fmt"

	"ralph/state"
)

// Effect says when a request takes effect, if not at once or not at all, and names the task
// that a skip is about. It continues a sentence.
func Effect(q state.Request, s state.Status) string {
	running, waiting := s.Status == state.StatusRunning, s.Status == state.StatusWaiting
	switch {
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
