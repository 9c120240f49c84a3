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
	ModeGate   Mode = "gate"   // every failure of a required check; also the zero value
	ModeTDD    Mode = "tdd"    // only what was not red before
	ModeReport Mode = "report" // none
)

// Verdict is what a result means.
type Verdict string

// The verdicts.
const (
	VerdictPassed  Verdict = "passed"
	VerdictFailed  Verdict = "failed"    // and was not red before
	VerdictKnown   Verdict = "known-red" // all that fails failed before the run
	VerdictFlaky   Verdict = "flaky"     // failed in one of two runs
	VerdictSkipped Verdict = "skipped"   // did not run, or found nothing to run
)

// Suite runs checks again and again during one run of ralph. It remembers what
// was red the last time; one goroutine uses it.
type Suite struct {
	Checks   []Check
	Mode     Mode
	FailFast bool // stop at the first new failure that blocks
	// Baseline and Flakes are read and changed; nil: nothing is known.
	Baseline *Baseline
	Flakes   *Flakes
	Place    Place
	// Progress is told of the start and the end of each run of a check; nil: nobody is.
	Progress func(Step)
	// Memory is what the Suite remembers of its earlier runs. It is changed in place.
	Memory Memory
}

// Memory is what a Suite remembers between two runs. The zero value remembers
// nothing.
type Memory struct {
	Last map[string]LastRun `json:"last,omitempty"` // by the name of the check
	// Matched names the rows with When that a change has matched since the run began.
	Matched map[string]bool `json:"matched,omitempty"`
}

// LastRun is the latest run of one check.
type LastRun struct {
	Passed bool            `json:"passed,omitempty"` // flaky counts as passed
	Failed map[string]bool `json:"failed,omitempty"` // single tests
	Blamed bool            `json:"blamed,omitempty"` // it failed, and did not fail before the run
}

// Clone is a copy that shares nothing with m that changes.
func (m Memory) Clone() Memory { return Memory{maps.Clone(m.Last), maps.Clone(m.Matched)} }

// Step is one thing that happens to a check.
type Step struct {
	Check Check
	Again bool // the second run of a red check
	// Baseline is set when it runs to see what is red before the work.
	Baseline bool
	Result   *Result // nil: it starts now; else it has ended
}

// Changed says what an iteration changed, with slash paths relative to the project.
type Changed struct {
	Files []string
	All   bool // run everything, whatever changed
	// Final is the end of a run: every package, but of the rows with When only
	// those that a change since the Suite began has matched.
	Final bool
}

// Run runs the checks that the changes ask for, and those that were red the last
// time. The report holds a result for each check, in the order in which they ran.
// The error is ralph's own: no shell, a full disk, or the context ended; the
// report then holds what was finished.
func (s *Suite) Run(ctx context.Context, ch Changed) (Report, error) {
	rep := Report{Mode: s.Mode}
	todo, left := s.selected(ch)
	rep.Untouched = left
	stopped := ""
	for _, c := range todo {
		if why := s.skip(c, ch, stopped); why != "" {
			rep.Results = append(rep.Results, Result{Name: c.Name, Command: c.Reproduce(), Check: c, Verdict: VerdictSkipped, Reason: why})
			continue
		}
		r, err := s.judge(ctx, c)
		if err != nil {
			return rep, err
		}
		rep.Results = append(rep.Results, r)
		if s.FailFast && r.Blocks && r.Verdict == VerdictFailed {
			stopped = c.Name
		}
	}
	s.remember(rep)
	return rep, nil
}

// selected are the checks of this run, and how many packages stay out of it.
func (s *Suite) selected(ch Changed) ([]Check, int) {
	all, touched := split(s.Place.Dir, s.Checks)
	if ch.All || ch.Final {
		return ordered(all), 0
	}
	affected := touched(ch.Files)
	kept := slices.DeleteFunc(slices.Clone(all), func(c Check) bool { return !affected(c) && !s.redBefore(c) })
	return ordered(kept), len(all) - len(kept)
}

// redBefore tells whether the last run of a check left something to mend.
func (s *Suite) redBefore(c Check) bool { return s.Memory.Last[c.Name].Blamed }

// notRun begins the reason of a check that another one kept from running.
const notRun = "not run: "

func (s *Suite) skip(c Check, ch Changed, stopped string) string {
	switch {
	case stopped != "":
		return fmt.Sprintf(notRun+"%q failed before it", stopped)
	case ch.All || len(c.When) == 0 || s.redBefore(c) || ch.Final && s.Memory.Matched[c.Name]:
		return ""
	case !c.touchedBy(ch.Files):
		return "no changed file matches " + strings.Join(c.When, ", ")
	}
	if s.Memory.Matched == nil {
		s.Memory.Matched = map[string]bool{}
	}
	s.Memory.Matched[c.Name] = true
	return ""
}

// judge runs a check, once more where it turned red, and says what it means.
func (s *Suite) judge(ctx context.Context, c Check) (Result, error) {
	r, err := s.exec(ctx, Step{Check: c})
	if err != nil {
		return Result{}, err
	}
	entry, known := s.Baseline.entry(c.Name)
	_, ran := s.Memory.Last[c.Name]
	if why := nothing(r, ran || known && !entry.Empty); why != "" {
		r.Verdict, r.Reason = VerdictSkipped, why
		return r, nil
	}
	blame(&r, entry, known)
	if r.Verdict == VerdictFailed && s.turnedRed(r, known) {
		first := r
		if r, err = s.exec(ctx, Step{Check: c, Again: true}); err != nil {
			return Result{}, err
		}
		blame(&r, entry, known)
		r.First = &first
		bothRed(&r)
		s.Flakes.record(r)
	}
	r.Blocks = c.Required() && s.Mode != ModeReport &&
		(r.Verdict == VerdictFailed || r.Verdict == VerdictKnown && s.Mode != ModeTDD)
	r.Reason = reason(r, s.Flakes)
	return r, nil
}

func (s *Suite) exec(ctx context.Context, step Step) (Result, error) {
	s.tell(step)
	r, err := run(ctx, step.Check, s.Place)
	if err == nil {
		step.Result = &r
		s.tell(step)
	}
	return r, err
}

func (s *Suite) tell(step Step) {
	if s.Progress != nil {
		s.Progress(step)
	}
}

// nothing is a sentence when a check failed because there is no code or no test
// yet. Where there was some before, it is a failure like any other.
func nothing(r Result, before bool) string {
	if r.Passed || before || r.TimedOut || r.Tests.Total() > 0 || r.Tests.Nothing == "" {
		return ""
	}
	return "nothing to check yet: " + r.Tests.Nothing
}

// blame compares a run with the baseline.
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
	// The same tests with another end, or no tests on both sides, tell whether
	// more than the known went wrong.
	same := len(failed) > 0 && e.Code == r.ExitCode || len(failed) == 0 && len(e.Failed) == 0
	if len(r.Blamed) == 0 && same && (!r.TimedOut || e.Timeout) {
		r.Verdict = VerdictKnown
	}
}

// turnedRed tells whether something that was green failed. What nobody has seen
// green costs no second run.
func (s *Suite) turnedRed(r Result, known bool) bool {
	last, ran := s.Memory.Last[r.Name]
	if !ran {
		return known || s.Flakes.knows(r.Name, r.Blamed)
	}
	if last.Passed || len(r.Blamed) == 0 {
		return last.Passed
	}
	return slices.ContainsFunc(r.Blamed, func(t report.Test) bool { return !last.Failed[t.Name] })
}

// bothRed keeps the blame for what failed in both runs; what failed in one is flaky.
func bothRed(r *Result) {
	first := r.First
	if len(first.Blamed) == 0 || r.Verdict == VerdictFailed && len(r.Blamed) == 0 {
		if r.Verdict == VerdictFailed {
			return // in one of the runs no single test can be blamed: the check itself failed twice
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

func names(tests []report.Test) []string {
	var names []string
	for _, t := range tests {
		names = append(names, t.Name)
	}
	return names
}

// remember keeps what the next run has to know.
func (s *Suite) remember(rep Report) {
	if s.Memory.Last == nil {
		s.Memory.Last = map[string]LastRun{}
	}
	for _, r := range rep.Results {
		if r.Verdict == VerdictSkipped {
			continue
		}
		o := LastRun{Passed: r.Verdict == VerdictPassed || r.Verdict == VerdictFlaky, Failed: map[string]bool{}, Blamed: r.Verdict == VerdictFailed}
		for _, t := range r.Tests.FailedTests() {
			o.Failed[t.Name] = true
		}
		s.Memory.Last[r.Name] = o
		s.Baseline.learn(r, s.Mode)
	}
}

// TakeBaseline runs every check once and keeps what is red: it was so before
// the agent did anything.
func (s *Suite) TakeBaseline(ctx context.Context, m Moment) (Report, error) {
	rep := Report{Mode: s.Mode, Baseline: true}
	todo, _ := s.selected(Changed{All: true})
	for _, c := range todo {
		r, err := s.exec(ctx, Step{Check: c, Baseline: true})
		if err != nil {
			return rep, err
		}
		switch why := nothing(r, false); {
		case why != "":
			r.Verdict, r.Reason = VerdictSkipped, why
		case r.Passed:
			r.Verdict = VerdictPassed
		default:
			r.Verdict = VerdictKnown
			r.Known = names(r.Tests.FailedTests())
			r.Reason = reason(r, nil)
		}
		rep.Results = append(rep.Results, r)
	}
	s.Memory.Last = nil
	s.Baseline.take(rep, m)
	return rep, nil
}

// Rebase takes the baseline from a report of this run, for a tree that has not
// changed since: what was red then is not the next task's.
func (s *Suite) Rebase(rep Report, m Moment) { s.Baseline.take(rep, m) }
