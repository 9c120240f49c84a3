package gate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ralph/runner/gate/report"
)

// Mode says which failures block.
type Mode string

// The modes.
const (
	// ModeAuto is ModeGate for a check that is green at the baseline, or since. A check that was red at the baseline
	// blocks the end of the run. It blocks a task only for a regression or the task's own tests.
	ModeAuto   Mode = "auto"
	ModeGate   Mode = "gate"   // every failure of a required check; also the meaning of ""
	ModeTDD    Mode = "tdd"    // only those of what passed before
	ModeReport Mode = "report" // none
)

// Verdict is the meaning of a result.
type Verdict string

// The verdicts.
const (
	VerdictPassed  Verdict = "passed"
	VerdictFailed  Verdict = "failed"    // and not in the baseline
	VerdictKnown   Verdict = "known-red" // all failures are in the baseline
	VerdictNew     Verdict = "new-red"   // all failures are of tests that never passed; in ModeTDD and ModeAuto
	VerdictFlaky   Verdict = "flaky"     // failed in one of two runs
	VerdictSkipped Verdict = "skipped"   // did not run, or found nothing to check
)

// Suite runs the checks of one run of ralph, once a turn. It remembers their last
// results. It is not safe for concurrent use.
type Suite struct {
	Checks   []Check
	Mode     Mode
	FailFast bool      // stop at the first new failure that blocks
	Baseline *Baseline // updated; nil: not kept
	Place    Place
	// Progress is called at the start and the end of each run of a check, on the
	// goroutine of Run; nil: not called.
	Progress func(Step)
	// Memory has the results of earlier runs. It is updated in place.
	Memory Memory
}

// Memory is what a Suite remembers between runs. The zero value is empty.
type Memory struct {
	Last map[string]LastRun `json:"last,omitempty"` // by the name of the check
	// Matched has the names of checks whose When matched a change of this run.
	Matched map[string]bool `json:"matched,omitempty"`
	// Own has the tests that turns wrote or changed for a task, by its id, until they pass.
	Own map[string][]TestAt `json:"own,omitempty"`
}

// LastRun is the latest run of one check.
type LastRun struct {
	Passed bool            `json:"passed,omitempty"` // or flaky
	Failed map[string]bool `json:"failed,omitempty"` // single tests
	Blamed bool            `json:"blamed,omitempty"` // it blocks, or has failures that are not in the baseline
	report.Tally
}

// Clone returns a copy that does not change when m does.
func (m Memory) Clone() Memory {
	return Memory{maps.Clone(m.Last), maps.Clone(m.Matched), maps.Clone(m.Own)}
}

// Step is the start or the end of one run of a check.
type Step struct {
	Check Check
	Again bool // the second run, after a failure
	// Baseline is set when the run is for the baseline.
	Baseline bool
	Result   *Result // nil: it starts; else it has ended
}

// Changed has the files that an iteration changed, as slash paths relative to the
// project.
type Changed struct {
	Files []string
	All   bool // run every check, whatever its When
	// Final is the end of a run: every check, except those whose When matched no
	// change of the whole run.
	Final bool
	Own   Own // the tests of the turn's task
}

// Run runs the checks whose When matches the change, and those that failed the last
// time. The report has a result for each, in the order in which they ran. An
// error is a failure of ralph itself (no shell, disk full) or the end of the
// context; the report then has the results so far.
func (s *Suite) Run(ctx context.Context, ch Changed) (Report, error) {
	rep := Report{Mode: s.Mode}
	ch.Own.Tests = slices.Concat(s.Memory.Own[ch.Own.Task], ch.Own.Tests)
	stopped := ""
	for _, c := range ordered(s.Checks) {
		if why := s.skip(c, ch, stopped); why != "" {
			r := result(c)
			r.Verdict, r.Reason = VerdictSkipped, why
			rep.Results = append(rep.Results, r)
			continue
		}
		r, err := s.judge(ctx, c, ch.Own)
		if err != nil {
			return rep, err
		}
		rep.Results = append(rep.Results, r)
		if s.FailFast && r.Blocks && r.Verdict == VerdictFailed {
			stopped = c.Name
		}
	}
	s.remember(rep, ch.Own)
	return rep, nil
}

// redBefore reports whether the last run of a check failed and was blamed.
func (s *Suite) redBefore(c Check) bool { return s.Memory.Last[c.Name].Blamed }

// The beginnings of reasons for a check that did not run: another one failed, or its When matches no change.
const (
	notRun     = "not run: "
	notMatched = "no changed file matches "
)

func (s *Suite) skip(c Check, ch Changed, stopped string) string {
	switch {
	case stopped != "":
		return fmt.Sprintf(notRun+"%q failed before it", stopped)
	case ch.All || len(c.When) == 0 || s.redBefore(c) || ch.Final && s.Memory.Matched[c.Name]:
		return ""
	case !Touched(ch.Files, c.When):
		return notMatched + strings.Join(c.When, ", ")
	}
	if s.Memory.Matched == nil {
		s.Memory.Matched = map[string]bool{}
	}
	s.Memory.Matched[c.Name] = true
	return ""
}

// judge runs a check, runs it again if it turned red, and sets the verdict.
func (s *Suite) judge(ctx context.Context, c Check, own Own) (Result, error) {
	entry, known := s.Baseline.entry(c.Name)
	_, ran := s.Memory.Last[c.Name]
	r, err := s.exec(ctx, Step{Check: c}, ran || known && !entry.Empty)
	if err != nil || r.Verdict == VerdictSkipped {
		return r, err
	}
	blame(&r, entry, known)
	if r.Verdict == VerdictFailed && s.turnedRed(r, known) {
		first := r
		if r, err = s.exec(ctx, Step{Check: c, Again: true}, true); err != nil {
			return Result{}, err
		}
		blame(&r, entry, known)
		r.First = &first
		compareRuns(&r)
	}
	mode := s.modeOf(entry, known)
	failFirst := own.FailFirst && s.Mode == ModeAuto
	if failFirst {
		mode = ModeTDD
	}
	if mode == ModeTDD {
		r.splitNew(entry, known && !entry.Empty || len(s.Memory.Last[c.Name].Failed) > 0)
	}
	if failFirst {
		r.expect(own)
		s.Baseline.expect(r)
	} else if s.Mode == ModeAuto {
		r.claim(own)
	}
	r.Blocks = c.Required() && mode != ModeReport &&
		(r.Verdict == VerdictFailed || r.Verdict == VerdictKnown && mode != ModeTDD)
	r.BlocksEnd = s.Mode == ModeAuto && c.Required() && !r.Blocks &&
		(r.Verdict == VerdictKnown || r.Verdict == VerdictNew)
	r.Reason = reason(r)
	return r, nil
}

// modeOf is the mode for a check, by its entry in the baseline.
func (s *Suite) modeOf(e Entry, known bool) Mode {
	switch {
	case s.Mode != ModeAuto:
		return s.Mode
	case known && !e.Passed && !e.Empty:
		return ModeTDD
	}
	return ModeGate
}

// expect takes the failures of the tests that the turn wrote for what they are: new tests, whose code is to come.
func (r *Result) expect(own Own) {
	if r.Verdict != VerdictFailed || r.TimedOut || len(r.Blamed) == 0 {
		return
	}
	wrote := func(t report.Test) bool { return own.wrote(t.Name) }
	for _, t := range r.Blamed {
		if wrote(t) {
			r.New = append(r.New, t.Name)
		}
	}
	if r.Blamed = slices.DeleteFunc(slices.Clone(r.Blamed), wrote); len(r.Blamed) == 0 {
		r.Verdict = VerdictNew
	}
}

// claim blames the failed tests that belong to the task, whatever the baseline says.
func (r *Result) claim(own Own) {
	for _, t := range r.Tests.FailedTests() {
		if !own.has(t.Name) || slices.Contains(names(r.Blamed), t.Name) || slices.Contains(r.Flaky, t.Name) {
			continue
		}
		other := func(name string) bool { return name == t.Name }
		r.Known, r.New = slices.DeleteFunc(r.Known, other), slices.DeleteFunc(r.New, other)
		r.Own, r.Blamed, r.Verdict = append(r.Own, t.Name), append(r.Blamed, t), VerdictFailed
	}
}

// exec runs a check once. If it has nothing to check yet, its verdict is VerdictSkipped. before is true if there was
// something to check in an earlier run.
func (s *Suite) exec(ctx context.Context, step Step, before bool) (Result, error) {
	if s.Progress == nil {
		s.Progress = func(Step) {}
	}
	s.Progress(step)
	r, err := run(ctx, step.Check, s.Place)
	if err == nil {
		if why := nothing(r, before); why != "" {
			r.Verdict, r.Reason = VerdictSkipped, why
		}
		step.Result = &r
		s.Progress(step)
	}
	return r, err
}

// nothing returns a sentence if a check failed because there is no code or no
// test yet. If there was some earlier, the failure is real and it returns "".
func nothing(r Result, before bool) string {
	if r.Passed || before || r.TimedOut || r.Tests.Total() > 0 || r.Tests.Nothing == "" {
		return ""
	}
	return "nothing to check yet: " + r.Tests.Nothing
}

// blame sets the verdict of a run by comparing it with the baseline entry e.
func blame(r *Result, e Entry, known bool) {
	r.Verdict = VerdictPassed
	if r.Passed {
		return
	}
	failed := r.Tests.FailedTests()
	r.Verdict = VerdictFailed
	if !known || e.Passed || e.Empty {
		r.Blamed = failed
		return
	}
	for _, t := range failed {
		if slices.Contains(e.Failed, t.Name) {
			r.Known = append(r.Known, t.Name)
		} else {
			r.Blamed = append(r.Blamed, t)
		}
	}
	// Even with the same failed tests, another exit code means that something else
	// failed, too. Some test runners exit with the number of failed tests.
	same := len(failed) > 0 && (e.Code == r.ExitCode || len(failed) == r.ExitCode) || len(failed) == 0 && len(e.Failed) == 0
	if len(r.Blamed) == 0 && same && (!r.TimedOut || e.Timeout) {
		r.Verdict = VerdictKnown
	}
}

// splitNew moves tests that have never passed from Blamed to New: in TDD they are written first and fail at first.
// began is true if there were tests before. If the output does not name passed tests, only those are new whose package
// or file could not run at the baseline.
func (r *Result) splitNew(e Entry, began bool) {
	if r.Verdict != VerdictFailed || r.TimedOut || began && len(r.Blamed) == 0 {
		return
	}
	if len(r.Blamed) == 0 {
		r.Verdict, r.New = VerdictNew, []string{r.Name}
		return
	}
	unnamed := began && len(e.Green) == 0 && e.Ran > 0
	isNew := func(t report.Test) bool {
		return !passedBefore(e.Green, t.Name) && (!unnamed || withinUnit(e.Failed, t.Name))
	}
	r.New = names(slices.DeleteFunc(slices.Clone(r.Blamed), func(t report.Test) bool { return !isNew(t) }))
	if r.Blamed = slices.DeleteFunc(slices.Clone(r.Blamed), isNew); len(r.Blamed) == 0 {
		r.Verdict = VerdictNew
	}
}

// turnedRed reports whether something failed that had passed. Only then is a second run worthwhile.
func (s *Suite) turnedRed(r Result, known bool) bool {
	last, ran := s.Memory.Last[r.Name]
	if !ran {
		return known
	}
	if last.Passed || len(r.Blamed) == 0 {
		return last.Passed
	}
	return slices.ContainsFunc(r.Blamed, func(t report.Test) bool { return !last.Failed[t.Name] })
}

// compareRuns blames what failed in both runs; what failed in one is flaky.
func compareRuns(r *Result) {
	first := r.First
	if len(first.Blamed) == 0 || r.Verdict == VerdictFailed && len(r.Blamed) == 0 {
		if r.Verdict == VerdictFailed {
			return // one of the runs has no test to blame: the check itself failed twice
		}
		r.Flaky = []string{r.Name}
	}
	was, is := names(first.Blamed), names(r.Blamed)
	for _, name := range slices.Concat(was, is) {
		if slices.Contains(was, name) != slices.Contains(is, name) {
			r.Flaky = append(r.Flaky, name)
		}
	}
	r.Blamed = slices.DeleteFunc(slices.Clone(r.Blamed), func(t report.Test) bool { return !slices.Contains(was, t.Name) })
	switch {
	case len(r.Blamed) > 0:
	case len(r.Known) > 0 || r.Verdict == VerdictKnown:
		r.Verdict = VerdictKnown
	default:
		r.Verdict = VerdictFlaky
	}
}

func names(tests []report.Test) (all []string) {
	for _, t := range tests {
		all = append(all, t.Name)
	}
	return all
}

// remember stores what the next run needs.
func (s *Suite) remember(rep Report, own Own) {
	if s.Memory.Last == nil {
		s.Memory.Last = map[string]LastRun{}
	}
	if delete(s.Memory.Own, own.Task); own.Task != "" && len(own.Tests) > 0 && rep.Blocked() {
		if s.Memory.Own == nil {
			s.Memory.Own = map[string][]TestAt{}
		}
		s.Memory.Own[own.Task] = own.Tests
	}
	for _, r := range rep.Results {
		if r.Verdict == VerdictSkipped {
			continue
		}
		o := LastRun{Passed: r.Verdict == VerdictPassed || r.Verdict == VerdictFlaky, Failed: map[string]bool{},
			Blamed: r.Verdict == VerdictFailed || r.Verdict == VerdictNew || r.Blocks, Tally: r.Tests.Tally()}
		for _, t := range r.Tests.FailedTests() {
			o.Failed[t.Name] = true
		}
		s.Memory.Last[r.Name] = o
		s.Baseline.learn(r, s.Mode)
	}
}

// TakeBaseline runs every check once, before the agent does anything, and stores
// the failures as the baseline.
func (s *Suite) TakeBaseline(ctx context.Context, run string) (Report, error) {
	rep := Report{Mode: s.Mode, Baseline: true}
	for _, c := range ordered(s.Checks) {
		r, err := s.exec(ctx, Step{Check: c, Baseline: true}, false)
		if err != nil {
			return rep, err
		}
		switch {
		case r.Verdict == VerdictSkipped:
		case r.Passed:
			r.Verdict = VerdictPassed
		default:
			r.Verdict = VerdictKnown
			r.Known = names(r.Tests.FailedTests())
			r.Reason = reason(r)
		}
		rep.Results = append(rep.Results, r)
	}
	s.Memory.Last = nil
	s.Baseline.take(rep, run)
	return rep, nil
}
