package gate

import (
	"ralph/runner/gate/report"
	"ralph/runner/gate/store"
)

// Losses are the checks that ran fewer tests than before. A check that failed
// anew is left out: it may have stopped early, and it is told as a failure.
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

// Tests is how many tests each check had when the baseline was taken.
func (b *Baseline) Tests(check string) report.Tally {
	e, _ := b.entry(check)
	return e.Tally
}

// Before is how many tests each check ran the last time, and at the baseline if it
// has not run since.
func (m Memory) Before(b *Baseline) func(check string) report.Tally {
	return func(check string) report.Tally {
		if last, ran := m.Last[check]; ran {
			return last.Tally
		}
		return b.Tests(check)
	}
}

// Unread says that tests ran and only the exit code says how; empty: it is known.
func (r Result) Unread() string {
	if r.Check.Format == report.ExitCode || formatOf(r.Check) == report.ExitCode || r.Tests.Known || r.Tests.Nothing != "" || r.Verdict == VerdictSkipped {
		return ""
	}
	return r.Name + ": its output does not say which tests ran, so only its exit code counts"
}

// PeekBaseline reads the baseline and changes nothing on disk; nil if there is none.
func PeekBaseline(path string) *Baseline {
	b, err := store.Peek[Baseline](path)
	if err != nil || b.TakenAt.IsZero() {
		return nil
	}
	return b
}
