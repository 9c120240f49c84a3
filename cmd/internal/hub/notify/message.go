// Package notify decides which events of a run are worth a message, words it, and sends it to
// the services that huboptions lists.
package notify

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// Message is what a person gets.
type Message struct {
	On    string // one of config.occasions
	Title string
	Text  string
}

// Of returns the message about an event; false: there is none. s says how far the run is.
func Of(e state.Event, s view.Snapshot) (Message, bool) {
	switch d := e.Data.(type) {
	case state.RunEnd:
		return ended(d, s), true
	case state.Question:
		return asks(d, s), true
	case state.Paused:
		return about(s, "waiting", "paused", far(s)+"\nNext: ralph resume"), true
	case state.Decision:
		return waits(d, s)
	case state.IterationEnd:
		s.Status.Task.Done, s.Status.Task.Total = d.Done, d.Total
		return waits(d.Decision, s)
	}
	return Message{}, false
}

func asks(d state.Question, s view.Snapshot) Message {
	task := ""
	if d.Title != "" {
		task = "Task: " + termtext.Line(d.Title)
	}
	answer := "Answer: ralph answer " + d.ID + " TEXT"
	if len(d.Options) > 0 {
		answer += ", or --option N"
	}
	lines := []string{task, far(s), d.Text}
	for i, option := range d.Options {
		lines = append(lines, fmt.Sprintf("%d: %s", i+1, option))
	}
	return about(s, "question", "an agent asks you", view.Join("\n", append(lines, answer)...))
}

func waits(d state.Decision, s view.Snapshot) (Message, bool) {
	if d.Action != state.ActionWait || d.Rule == state.RuleQuestion { // the question had a message of its own
		return Message{}, false
	}
	on, title := "waiting", "waiting"
	if d.Rule == state.RuleUsageLimit {
		on, title = "limited", "usage limit reached"
	}
	if !d.WakeAt.IsZero() {
		title += " until " + view.Clock(d.WakeAt, time.Now())
	}
	return about(s, on, title, view.Join("\n", termtext.Line(d.Reason), far(s), "Next: ralph status")), true
}

// ended takes the figures from the event itself: the next run may have begun by now.
func ended(d state.RunEnd, s view.Snapshot) Message {
	if d.Status != "" {
		s.Status = state.Status{Status: d.Status, LoopCount: d.Iterations, Usage: d.Usage,
			Checks: s.Status.Checks, Task: state.TaskStatus{Done: d.Done, Total: d.Total}}
	}
	on, word := state.ExitOf(d.Exit).Notice, s.Status.Status
	word = cmp.Or(state.NotProven(word, d.Unproven), word)
	if d.Exit == state.ExitReview {
		word = "it needs your review"
	}
	next := termtext.Line(d.Next)
	switch {
	case next != "":
	case d.Rule == state.RuleQuestion:
		next = "ralph questions"
	case d.Exit != 0:
		next = "ralph status"
	default:
		next = "ralph report"
	}
	return about(s, on, word, view.Join("\n", far(s), termtext.Line(d.Reason), "Next: "+next))
}

// Died is the message about a run whose runner was killed.
func Died(s view.Snapshot) Message {
	return about(s, "halted", "the runner died", view.Join("\n", far(s), termtext.Line(s.Status.LastError),
		"Next: ralph resume"))
}

// Test is a message for trying out the settings.
func Test(dir string) Message {
	return Message{Title: "ralph: " + termtext.Line(filepath.Base(dir)) + ": test",
		Text: "This is a test.\nNext: ralph"}
}

func about(s view.Snapshot, on, title, text string) Message {
	return Message{On: on, Title: fmt.Sprintf("ralph: %s: %s", termtext.Line(filepath.Base(s.Dir)), title),
		Text: termtext.Clean(text)}
}

// far says how far the run is, what it cost, and in a line of its own what the checks said last.
func far(s view.Snapshot) string {
	t := s.Status.Task
	tasks := ""
	if t.Total > 0 {
		tasks = fmt.Sprintf("%d of %s done", t.Done, termtext.Count(t.Total, "task"))
	}
	iterations := ""
	if s.Status.Status != "" { // else nothing is known of that run
		iterations = termtext.Count(s.Status.LoopCount, "iteration")
	}
	checks := termtext.Each(s.Status.Checks, func(c state.CheckStatus) string { return termtext.Line(c.Name + " " + c.Result) })
	return view.Join("\n", view.Join(", ", tasks, iterations, view.Dollars(s.Status.Usage.CostUSD)),
		view.Prefix("Checks: ", strings.Join(checks, ", ")))
}
