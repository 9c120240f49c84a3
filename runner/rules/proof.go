package rules

import (
	"strings"

	"ralph/runner/gate"
	"ralph/state"
)

// proofOf returns a clause without a full stop. A check that was skipped has shown nothing.
func proofOf(r gate.Report) string {
	skipped, ran := unchecked(r)
	switch red := r.KnownRed(); {
	case len(red) > 0:
		return "no required check got worse; these failed before the run, too: " + strings.Join(red, ", ")
	case len(skipped) == 0:
		return "all required checks pass"
	case ran:
		return "all required checks that ran pass; skipped: " + strings.Join(skipped, "; ")
	default:
		return "no required check ran: " + strings.Join(skipped, "; ")
	}
}

// unproven says why a run that is complete is not proven; empty: required checks ran, and they prove it.
func unproven(r gate.Report) string {
	_, ran := unchecked(r)
	switch {
	case !ran:
		return state.NoCheckRan
	case r.Mode == gate.ModeReport:
		return "no check decides (TEST_MODE=report)"
	}
	return ""
}

// unchecked names the required checks that were skipped, with the reason of each, and
// reports whether any other required check ran.
func unchecked(r gate.Report) (skipped []string, ran bool) {
	for _, x := range r.Results {
		switch {
		case !x.Check.Required():
		case x.Verdict == gate.VerdictSkipped:
			skipped = append(skipped, x.Name+": "+x.Reason)
		default:
			ran = true
		}
	}
	return skipped, ran
}
