package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ralph/logs/termtext"
)

// maxNames limits the names in a Tally. If there are more tests, it has only their number.
const maxNames = 5000

// Tally says how many tests ran, and which. Skipped tests did not run. Only what has its place in the report whether it
// fails or passes is counted: of a runner that names passed packages, a package is one test. The zero value: none, or not
// known.
type Tally struct {
	Ran int `json:"tests"`
	// Names are sorted; nil if some are not known.
	Names []string `json:"names,omitempty"`
}

// Tally returns what ran.
func (s Summary) Tally() Tally {
	t := Tally{Ran: s.Passed + s.Failed}
	units := map[string]bool{}
	for _, test := range s.Tests {
		switch name := cmp.Or(test.Of, test.Name); {
		case test.Status == Skipped:
		case test.Loose, units[name]:
			t.Ran--
		default:
			units[name] = true
		}
	}
	if t.Ran > maxNames {
		return t
	}
	t.Names = slices.Sorted(maps.Keys(units))
	if len(t.Names) != t.Ran {
		t.Names = nil
	}
	return t
}

// Loss is a check that ran fewer tests than before.
type Loss struct {
	Check       string
	Before, Now int
	Unread      bool     // the output does not say which tests run now
	Gone        []string // tests that ran before; nil if not known
	Skipped     []string // tests that ran before and are skipped now; only if the number of tests is not lower
}

// Loss compares what ran before with a later report of the check. It returns
// false if as many tests ran, and none of those before is skipped now.
func (t Tally) Loss(check string, later Summary) (Loss, bool) {
	now := later.Tally()
	l := Loss{Check: check, Before: t.Ran, Now: now.Ran, Unread: !later.Known}
	if now.Ran >= t.Ran {
		for _, test := range later.Tests {
			if _, ran := slices.BinarySearch(t.Names, test.Name); ran && test.Status == Skipped {
				l.Skipped = append(l.Skipped, test.Name)
			}
		}
		l.Gone = l.Skipped
		return l, len(l.Skipped) > 0
	}
	if now.Names != nil || now.Ran == 0 {
		for _, name := range t.Names {
			if _, still := slices.BinarySearch(now.Names, name); !still {
				l.Gone = append(l.Gone, name)
			}
		}
	}
	return l, true
}

// Without returns t without the tests of a loss.
func (t Tally) Without(l Loss) Tally {
	n := l.Before - l.Now
	if t.Names != nil && l.Gone != nil {
		t.Names = slices.DeleteFunc(slices.Clone(t.Names),
			func(name string) bool { return slices.Contains(l.Gone, name) })
		n = t.Ran - len(t.Names)
	}
	t.Ran = max(t.Ran-n, 0)
	return t
}

// String returns one sentence.
func (l Loss) String() string {
	const most = 4
	now := fmt.Sprintf("%d run now", l.Now)
	switch {
	case len(l.Skipped) > 0:
		return fmt.Sprintf("check %s: ran before and skipped now: %s", l.Check, termtext.Some(l.Skipped, most))
	case l.Unread:
		now = "and its output names none now"
	case l.Now == 1:
		now = "1 runs now"
	}
	text := fmt.Sprintf("check %s: %s ran before, %s", l.Check, termtext.Counted(l.Before, "test", "tests"), now)
	if len(l.Gone) == 0 {
		return text
	}
	return text + "; gone: " + termtext.Some(l.Gone, most)
}
