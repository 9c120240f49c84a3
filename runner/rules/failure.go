package rules

import (
	"fmt"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/state"
)

// checkFailure is what keeps the work of a turn from counting.
type checkFailure struct {
	Report gate.Report
	Merge  string // how the merge ended, in the words of state; empty: there was none
}

// Refused is true when no check failed: what has landed meanwhile conflicts with the work.
func (f checkFailure) Refused() bool { return f.Report.Blocked() && f.Merge == state.MergeConflict }

// What is the failure in one clause.
func (f checkFailure) What() string {
	if f.Refused() {
		return "not merged: " + f.clause()
	}
	return "required check failed: " + f.Names()
}

// Again is What, when the work of a second task fails in the same way.
func (f checkFailure) Again() string {
	if f.Refused() {
		return "the work of a second task is not merged for the same reason: " + f.clause()
	}
	return fmt.Sprintf("the required check %s fails for a second task in the same way: %s", f.Names(),
		f.Report.Blocking()[0].FirstLine())
}

// Next is what a person can do about it, and then types.
func (f checkFailure) Next(then string) string {
	return "see why the check " + f.Names() + " fails: ralph check; then: " + then
}

// Feedback is the failure for the next prompt. reopened is true if the task was ticked.
func (f checkFailure) Feedback(reopened bool) []string {
	told, rule := f.Report.Feedback(), "the required checks pass"
	if f.Refused() {
		told, rule = "Your work was not merged: "+f.why(), "its work is merged"
	}
	if !reopened {
		return []string{told}
	}
	return []string{told, "ralph reopened your task: a task is done when " + rule + "."}
}

func (f checkFailure) why() string { return f.Report.Blocking()[0].Reason }

func (f checkFailure) clause() string { return termtext.Fit(termtext.Line(f.why()), 400) }

// Names are those of the checks.
func (f checkFailure) Names() string {
	names := termtext.Each(f.Report.Blocking(), func(x gate.Result) string { return x.Name })
	return strings.Join(names, ", ")
}
