package ledger

import (
	"fmt"

	"ralph/logs/termtext"
	"ralph/runner/gate"
)

// disguised says which checks passed although their own report names failed tests:
// something swallows the exit code. A check that did so at the baseline already is
// meant that way.
func disguised(r gate.Report, b *gate.Baseline) (lines []string) {
	for _, x := range r.Results {
		var e gate.Entry
		if b != nil {
			e = b.Checks[x.Name]
		}
		if !x.Passed || x.Tests.Failed == 0 || e.Passed && len(e.Failed) > 0 {
			continue
		}
		if names := x.Tests.StillFailed(); len(names) > 0 {
			lines = append(lines, fmt.Sprintf("check %s: its exit code is 0, but its report names failed tests: %s",
				x.Name, termtext.Some(names, 5)))
		}
	}
	return lines
}
