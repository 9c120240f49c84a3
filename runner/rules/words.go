package rules

import (
	"fmt"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/turn"
)

// FindingText is a finding of the audit in one line.
func FindingText(f audit.Finding) string {
	if f.File == "" {
		return f.Text
	}
	return f.File + ": " + f.Text
}

// LastError is what a person asks first about a run that crashed later: what went
// wrong in its latest turn. Empty: nothing did.
func LastError(r turn.Result) string {
	if r.Failed() {
		return seenIn(r.Call.Outcome)
	}
	blocking := r.Proof.Report.Blocking()
	switch {
	case len(blocking) == 0:
		return ""
	case failureOf(r).Refused():
		return failureOf(r).What()
	}
	return fmt.Sprintf("the check %s failed: %s", blocking[0].Name, blocking[0].FirstLine())
}

// Attempt says in one line what a turn did for its task.
func Attempt(r turn.Result) string {
	parts := []string{string(r.Call.Outcome.Class)}
	if n := r.Work.Change.Count; n > 0 {
		changed := "changed " + termtext.Counted(n, "file", "files")
		if files := r.Work.Change.Files; n <= 4 && len(files) == n {
			changed = "changed " + strings.Join(files, ", ")
		}
		parts = append(parts, changed)
	} else {
		parts = append(parts, "changed nothing")
	}
	if f := failureOf(r); f.Refused() {
		parts = append(parts, "then its work was "+f.What())
	} else if f.Report.Blocked() {
		parts = append(parts, "then these checks failed: "+f.Names())
	}
	if said := r.Call.Signal.Recommendation; said != "" {
		parts = append(parts, fmt.Sprintf("recommended: %.200s", said))
	}
	return strings.Join(parts, ", ")
}

func failureOf(r turn.Result) checkFailure {
	return checkFailure{Report: r.Proof.Report, Merge: r.Proof.Merge}
}
