package gate

import (
	"maps"
	"slices"
	"strings"
)

// Green returns what failed before the run of this report, and passes now: single tests, or "check NAME" where they are
// not known. b and m are as they were before it.
func (r Report) Green(b *Baseline, m Memory) (all []string) {
	for _, x := range r.Results {
		if x.Verdict == VerdictSkipped {
			continue
		}
		last, ran := m.Last[x.Name]
		was, red := slices.Sorted(maps.Keys(last.Failed)), ran && !last.Passed
		if e, known := b.entry(x.Name); !ran && known {
			was, red = e.Failed, !e.Passed && !e.Empty
		}
		still := names(x.Tests.FailedTests())
		switch {
		case len(was) > 0 && (x.Passed || x.Tests.Known):
			for _, test := range was {
				if !slices.Contains(still, test) {
					all = append(all, test)
				}
			}
		case red && x.Passed:
			all = append(all, checkPrefix+x.Name)
		}
	}
	return all
}

const checkPrefix = "check "

// OfCheck is true for what Green says about a check without single tests.
func OfCheck(green string) bool { return strings.HasPrefix(green, checkPrefix) }
