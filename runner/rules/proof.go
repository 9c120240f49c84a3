package rules

import (
	"strings"

	"ralph/runner/gate"
)

// proof says what the checks of a finished plan have shown.
func proof(r gate.Report) string {
	skipped, ran := r.Unchecked()
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
