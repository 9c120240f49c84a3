package gate

import (
	"maps"
	"slices"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/gate/report"
	"ralph/runner/git"
)

// BaselineFile is the name of the file in the state directory that keeps the baseline.
const BaselineFile = "test_baseline.json"

// Entry is a check's result in the baseline. A failure that was fixed is removed, so that it counts if it comes back.
type Entry struct {
	Command string `json:"command,omitempty"` // empty: not known
	Passed  bool   `json:"passed"`
	Code    int    `json:"code"` // exit code; -1: ended by a signal
	Timeout bool   `json:"timeout,omitempty"`
	Empty   bool   `json:"empty,omitempty"` // nothing to check yet: no code or no test
	report.Tally
	// Failed are the failed tests; empty if single tests are not known.
	Failed []string `json:"failed,omitempty"`
	// Green are the ids of the tests that have passed so far; only in ModeTDD and ModeAuto.
	Green []string `json:"green,omitempty"`
}

// Baseline is .ralph/test_baseline.json: the failures that ralph does not blame
// on the agent. A nil Baseline is empty and stays so.
type Baseline struct {
	Run     string           `json:"run"`
	Task    string           `json:"task,omitempty"` // before whose work it was taken
	TakenAt time.Time        `json:"taken_at"`       // zero: never
	Checks  map[string]Entry `json:"checks"`
}

// ReadBaseline reads the file, which may be missing. On an error it has renamed
// an unusable file, and the Baseline is empty.
func ReadBaseline(path string) (*Baseline, error) { return git.LoadJSON[Baseline](path) }

// Write replaces the file, unless it has the same content.
func (b *Baseline) Write(path string) error { return git.SaveJSON(path, b) }

// Clone returns a copy that does not change when b does.
func (b *Baseline) Clone() *Baseline {
	if b == nil {
		return nil
	}
	c := *b
	c.Checks = maps.Clone(b.Checks)
	return &c
}

// Begin sets the baseline of a project that has nothing to check yet: every later failure is new.
func (b *Baseline) Begin(checks []Check, run string) {
	if b == nil {
		return
	}
	for _, c := range checks {
		b.set(c.Name, Entry{Empty: true})
	}
	b.stamp(run)
}

func (b *Baseline) stamp(run string) { b.Run, b.TakenAt = run, time.Now().Truncate(time.Second) }

// Adopt makes the baseline of an unfinished run that of the run that resumes it, so
// that what the first one broke still counts as broken by ralph.
func (b *Baseline) Adopt(run string) {
	if b != nil && !b.TakenAt.IsZero() {
		b.Run = run
	}
}

// Red lists the failures of the baseline that are not fixed yet, one line a check.
func (b *Baseline) Red() []string {
	if b == nil {
		return nil
	}
	var lines []string
	for name, e := range b.Checks {
		if e.Passed || e.Empty {
			continue
		}
		line := name
		if len(e.Failed) > 0 {
			line += ": " + termtext.Some(e.Failed, maxNamed)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func (b *Baseline) entry(check string) (Entry, bool) {
	if b == nil {
		return Entry{}, false
	}
	e, ok := b.Checks[check]
	return e, ok
}

func (b *Baseline) set(check string, e Entry) {
	if b.Checks == nil {
		b.Checks = map[string]Entry{}
	}
	b.Checks[check] = e
}

// take sets the baseline from a report. Checks that did not run have no entry. Within a run, a check keeps its largest
// number of tests, so that tests that an earlier task removed are still missed.
func (b *Baseline) take(rep Report, run string) {
	if b == nil {
		return
	}
	old := b.Checks
	if b.Checks = nil; b.Run != run {
		old = nil
	}
	for _, r := range rep.Results {
		switch {
		case r.empty() && old[r.Name].Ran > 0:
			b.set(r.Name, old[r.Name])
		case r.empty():
			b.set(r.Name, Entry{Empty: true})
		case r.Verdict != VerdictSkipped:
			e := entryOf(r).atLeast(old[r.Name])
			e.Green = b.green(r, rep.Mode)
			b.set(r.Name, e)
		}
	}
	b.stamp(run)
}

func entryOf(r Result) Entry {
	if r.Passed || r.Verdict == VerdictFlaky {
		return Entry{Command: r.Command, Passed: true, Tally: r.Tests.Tally(), Failed: r.saysFailed()}
	}
	return Entry{Command: r.Command, Code: r.ExitCode, Timeout: r.TimedOut, Tally: r.Tests.Tally(), Failed: names(r.Tests.FailedTests())}
}

// atLeast keeps the tally of an earlier entry that has more tests.
func (e Entry) atLeast(old Entry) Entry {
	if old.Ran > e.Ran {
		e.Tally = old.Tally
	}
	return e
}

// expect adds the new tests of a result to those that failed at the baseline, if nothing else fails: from now on, they
// block the end of a run, and not each task on the way.
func (b *Baseline) expect(r Result) {
	if e, known := b.entry(r.Name); known && r.Verdict == VerdictNew {
		e.Passed, e.Empty, e.Code = false, false, r.ExitCode
		e.Failed = slices.Concat(e.Failed, r.New)
		b.set(r.Name, e)
	}
}

// Forgive takes tests whose removal was justified out of the baseline. Tests that are newer than it were never in it.
func (b *Baseline) Forgive(losses []report.Loss) {
	for _, l := range losses {
		if e, known := b.entry(l.Check); known {
			e.Tally = e.Without(l)
			b.set(l.Check, e)
		}
	}
}

// IgnoredFailures names the tests that failed although the check passed, except those that also did so at the baseline.
func (r Result) IgnoredFailures(b *Baseline) []string {
	e, _ := b.entry(r.Name)
	return slices.DeleteFunc(r.saysFailed(), func(name string) bool {
		return !r.Passed || e.Passed && slices.Contains(e.Failed, name)
	})
}

// saysFailed names the tests that failed by the output. Without a known format, they are the lines that say so.
func (r Result) saysFailed() []string {
	if !r.Tests.Known {
		return failingLines(r.Output)
	}
	return r.Tests.StillFailed()
}

// empty reports whether the check ran and found nothing to check.
func (r Result) empty() bool {
	return r.Tests.Total() == 0 && (r.Passed || r.Verdict == VerdictSkipped) && (r.Tests.Nothing != "" || r.Tests.Known)
}

// learn updates the baseline after a run. A check without an entry gets one, and its later failures are new. A failure
// that now passes is removed.
func (b *Baseline) learn(r Result, mode Mode) {
	if b == nil || r.empty() {
		return
	}
	e, ok := b.Checks[r.Name]
	if green := b.green(r, mode); len(green) > len(e.Green) {
		e.Green = green
		if ok && !e.Empty {
			b.set(r.Name, e)
		}
	}
	switch {
	case (!ok || e.Empty) && r.Verdict == VerdictNew:
		b.set(r.Name, Entry{Empty: true, Green: e.Green})
	case !ok || e.Empty:
		b.set(r.Name, Entry{Passed: true, Tally: r.Tests.Tally(), Green: e.Green, Failed: r.saysFailed()})
	case e.Passed:
	case r.Passed: // perhaps because the failing test is gone
		green := e.Green
		e = entryOf(r).atLeast(e)
		e.Green, e.Failed = green, nil // only since this run does its exit code hide tests that still fail
		b.set(r.Name, e)
	default:
		green := r.Tests.PassedTests()
		red := slices.DeleteFunc(slices.Clone(e.Failed), func(name string) bool { return slices.Contains(green, name) })
		fixed := len(red) < len(e.Failed)
		if mode == ModeAuto { // the check was never green: its new tests are those of later tasks
			red = append(red, r.New...)
		}
		if !fixed && len(red) == len(e.Failed) {
			return
		}
		e.Failed, e.Passed = red, len(red) == 0
		b.set(r.Name, e)
	}
}

// green returns the tests of a check that have passed so far.
func (b *Baseline) green(r Result, mode Mode) []string {
	if mode != ModeTDD && mode != ModeAuto {
		return nil
	}
	return addFresh(b.Checks[r.Name].Green, r.Tests.PassedTests())
}
