package gate

import (
	"cmp"
	"slices"
	"strings"

	"ralph/runner/gate/report"
	"ralph/runner/git"
)

// Losses returns the checks that ran fewer tests than before. It leaves out checks with new failures: they may have
// stopped early, and they are reported as failures.
func (r Report) Losses(before func(check string) report.Tally) []report.Loss {
	var losses []report.Loss
	for _, x := range r.Results {
		if x.Verdict == VerdictSkipped || x.Verdict == VerdictFailed || !x.Tests.Known && x.Check.JUnit != "" {
			continue // a build tool that has nothing to do leaves the old report files
		}
		if l, fewer := before(x.Name).Loss(x.Name, x.Tests); fewer {
			losses = append(losses, l)
		}
	}
	return losses
}

// More reports whether a check ran more tests than at the baseline.
func (r Report) More(b *Baseline) bool {
	return slices.ContainsFunc(r.Results, func(x Result) bool { return x.Tests.Tally().Ran > b.Tests(x.Name).Ran })
}

// Tests returns how many tests a check had when the baseline was taken.
func (b *Baseline) Tests(check string) report.Tally {
	e, _ := b.entry(check)
	return e.Tally
}

// Before returns a function that says how many tests a check ran the last time, or at the baseline if it has not run
// since.
func (m Memory) Before(b *Baseline) func(check string) report.Tally {
	return func(check string) report.Tally {
		if last, ran := m.Last[check]; ran {
			return last.Tally
		}
		return b.Tests(check)
	}
}

// RanNoTest returns a sentence if the check passed without running a single test; empty: it ran some, or its output does
// not say.
func (r Result) RanNoTest() string {
	if cmp.Or(r.Check.Kind, KindTest) != KindTest || !r.Passed || r.Verdict == VerdictSkipped ||
		!r.Tests.Known && r.Tests.None == "" || r.Tests.Tally().Ran > 0 {
		return ""
	}
	return "check " + r.Name + " ran no test, so it proves nothing"
}

// Unrun returns a line for each required check that did not run, or ran no test, though nothing failed before it and
// its When matches a change.
func (r Report) Unrun() []string {
	var lines []string
	for _, x := range r.Results {
		line := x.RanNoTest()
		if x.Verdict == VerdictSkipped && !strings.HasPrefix(x.Reason, notRun) && !strings.HasPrefix(x.Reason, notMatched) {
			line = "check " + x.Name + " did not run: " + x.Reason
		}
		if line != "" && x.Check.Required() {
			lines = append(lines, line)
		}
	}
	return lines
}

// UnreadOutput returns a sentence if ralph cannot read from the output which tests ran; empty: it can.
func (r Result) UnreadOutput() string {
	if r.Check.Format == report.ExitCode || formatOf(r.Check) == report.ExitCode || r.Tests.Known ||
		r.Tests.Nothing+r.Tests.None != "" || r.Verdict == VerdictSkipped {
		return ""
	}
	return r.Name + ": its output does not say which tests ran, so only its exit code counts"
}

// PeekBaseline reads the baseline and changes nothing on disk; nil if there is none.
func PeekBaseline(path string) *Baseline {
	b, err := git.PeekJSON[Baseline](path)
	if err != nil || b.TakenAt.IsZero() {
		return nil
	}
	return b
}

// RedTests are the tests that failed in required checks, whether they had passed before or not.
func (r Report) RedTests() (all []string) {
	for _, x := range r.Results {
		if x.Passed || !x.Check.Required() {
			continue
		}
		for _, t := range x.Blamed {
			all = append(all, t.Name)
		}
		all = slices.Concat(all, x.Known, x.New)
	}
	return all
}
