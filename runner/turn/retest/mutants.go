package retest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/failure"
	"ralph/runner/audit/hunks"
	"ralph/runner/audit/mutate"
	"ralph/runner/audit/values"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/sandbox"
	"ralph/runner/turn/retest/paths"
)

const (
	mutantTime       = 2 * time.Minute // for all runs with mutants
	quickCheck       = 7 * time.Second // how long a check may take
	mostMutants      = 4               // that are compared with before
	perFunction      = 2
	mostAsked        = 8       // of a function, or where the task is to write tests
	perFunctionAsked = 4       // as perFunction, where the task is to write tests
	mostGroups       = 3       // functions
	mostCode         = 4 << 20 // bytes of code that are read
	unseen           = 2       // mutants of a function that no test notices, for a finding
)

// mutants tries whether the tests notice small changes of the code: those that they noticed as they were, and any
// change of a function for which the task asks, if the new tests name it. Changed code may do anything, so without a
// sandbox it tries nothing.
func (x *probe) mutants(ctx context.Context) ([]string, error) {
	u := plan(x.files, x.green, "")
	u.files = slices.Concat(u.files, x.asserting(u))
	rows := x.quick()
	if len(rows) == 0 || len(u.files) == 0 {
		return nil, nil
	}
	sources, err := x.sources(ctx)
	if err != nil {
		return nil, err
	}
	tests, err := x.tests(ctx)
	if err != nil {
		return nil, err
	}
	old, asked := tested(sources, u, tests), x.asked(u, sources)
	if asks.ForLess(x.text) {
		old = nil
	}
	if len(old)+len(asked) == 0 {
		return nil, nil
	}
	if ok, err := x.contained(ctx); err != nil || !ok {
		return nil, err
	}
	is, err := x.with(ctx, rows, nil)
	if err != nil || slices.ContainsFunc(is.Results, func(r gate.Result) bool { return !r.Passed }) {
		return nil, err
	}
	trial := trial{x: x, rows: rows, undo: u, sources: sources, tests: tests, is: is}
	limited, cancel := context.WithTimeout(ctx, mutantTime)
	defer cancel()
	found, err := trial.unproven(limited, asked)
	if err == nil && len(found) == 0 && len(old) > 0 {
		found, err = trial.lost(limited, old)
	}
	if limited.Err() != nil { // what is not tried in time is not judged
		return nil, ctx.Err()
	}
	return found, err
}

// quick returns the checks that are fast enough to run many times.
func (x *probe) quick() (rows []gate.Check) {
	for _, r := range x.p.Report.Results {
		if !r.Passed || r.Duration > quickCheck ||
			!slices.ContainsFunc(x.green, func(c gate.Check) bool { return c.Name == r.Name }) {
			continue
		}
		c := r.Check
		c.Timeout = 10*time.Second + 5*r.Duration // a mutant may never end
		rows = append(rows, c)
	}
	return rows
}

// contained puts the copy into a sandbox, unless the user's is on. It returns false if none works here.
func (x *probe) contained(ctx context.Context) (bool, error) {
	if err := x.copy(ctx); err != nil || x.suite.Place.Box.On() {
		return true, err
	}
	for _, settings := range sandbox.Light() {
		if settings, err := settings.Resolve(); err == nil {
			err = x.contain(settings)
			place := &x.suite.Place
			for _, entry := range place.Env { // what Go builds is found by its content
				if dir, ok := strings.CutPrefix(entry, "GOCACHE="); ok {
					place.Box.Write = append(place.Box.Write, dir)
				}
			}
			return true, err
		}
	}
	return false, nil
}

// asserting returns the changed files of code, not of tests, in which a function that asserts lost a line.
func (x *probe) asserting(u undo) (all []git.Text) {
	for _, f := range x.files {
		if u.takes(f) || !f.Existed || !paths.IsProduct(f) {
			continue
		}
		was, is := strings.Split(f.Before, "\n"), strings.Split(f.After, "\n")
		if slices.ContainsFunc(values.Without(was, is),
			func(line string) bool { return hunks.Inside(was, []string{line}, "") }) {
			all = append(all, f)
		}
	}
	return all
}

// trial runs the checks with mutants.
type trial struct {
	x       *probe
	rows    []gate.Check
	undo    undo
	sources mutate.Sources
	tests   []string    // texts of all tests
	is, was gate.Report // without a mutant: with the tests of now, and as they were
}

// run runs the checks with a mutant, and with these files as they were.
func (t *trial) run(ctx context.Context, m mutate.Mutant, files []git.Text) (gate.Report, error) {
	files = slices.Clone(files)
	i := slices.IndexFunc(files, func(f git.Text) bool { return f.Path == m.Path })
	if i < 0 {
		i, files = len(files), append(files,
			git.Text{Path: m.Path, Before: t.sources[m.Path], After: t.sources[m.Path], Existed: true, Exists: true})
	}
	files[i].Before, _ = m.In(files[i].Before)
	return t.x.with(ctx, t.rows, files)
}

// unproven returns sentences about functions of which no test notices any mutant. Where the task is to write tests,
// they must notice half of the mutants of all functions.
func (t *trial) unproven(ctx context.Context, groups [][]mutate.Mutant) (found []string, err error) {
	tests := asks.ForTests(t.x.text)
	for _, group := range groups {
		var missed []mutate.Mutant
		noticed := 0
		for _, m := range group {
			if noticed > 0 && !tests {
				break
			}
			r, err := t.run(ctx, m, nil)
			if err != nil {
				return nil, err
			}
			failed := slices.DeleteFunc(r.Results, func(r gate.Result) bool { return r.Passed })
			switch {
			case slices.ContainsFunc(failed, func(r gate.Result) bool { return failure.Crashed(r.Output) }):
			case len(failed) > 0 && !tests, slices.ContainsFunc(failed, t.fresh):
				noticed++
			case m.Weak && tests:
			default:
				missed = append(missed, m)
			}
		}
		if !slices.ContainsFunc(missed, func(m mutate.Mutant) bool { return !m.Weak }) {
			continue
		}
		switch {
		case tests && len(missed) > noticed && len(missed) >= unseen &&
			(noticed == 0 || len(missed)+noticed > perFunctionAsked):
			found = append(found,
				fmt.Sprintf("the new tests catch %d of %d deliberate bugs: %s", noticed, len(missed)+noticed,
					passWith(missed[0])))
		case !tests && len(missed) >= unseen && noticed == 0:
			found = append(found,
				fmt.Sprintf("no test of %s fails when its code is broken: %s", group[0].Func, passWith(missed[0])))
		}
	}
	return found, nil
}

// fresh reports whether a test failed that was not there before, or no test has a name. A name that is in no file is
// made when the tests run: "adds ${a} and ${b}".
func (t *trial) fresh(r gate.Result) bool {
	failed := r.Tests.FailedTests()
	return len(failed) == 0 || slices.ContainsFunc(failed, func(one report.Test) bool {
		name := failure.Bare(one.Name)
		has := func(text string) bool { return strings.Contains(text, name) }
		return !slices.ContainsFunc(t.undo.files, func(f git.Text) bool { return has(f.Before) }) &&
			(!slices.ContainsFunc(t.tests, has) || slices.ContainsFunc(t.undo.files, func(f git.Text) bool {
				return has(f.After)
			}))
	})
}

func passWith(m mutate.Mutant) string {
	if m.Now == "" || m.Now == ";" || m.Now == "pass" {
		return fmt.Sprintf("they also pass without %q in %s", m.Was, m.Path)
	}
	return fmt.Sprintf("they also pass with %q instead of %q in %s", m.Now, m.Was, m.Path)
}

// sight is what tests notice of a mutant. A check without names of tests counts as one test.
type sight struct {
	mutant    mutate.Mutant
	then, now []string
}

// lost returns sentences about tests that noticed mutants as they were, and now notice none of them.
func (t *trial) lost(ctx context.Context, mutants []mutate.Mutant) ([]string, error) {
	var err error
	if t.was, err = t.x.with(ctx, t.rows, t.undo.files); err != nil {
		return nil, err
	}
	var all []sight
	for _, m := range mutants {
		then, err := t.run(ctx, m, t.undo.files)
		if err != nil {
			return nil, err
		}
		s := sight{mutant: m, then: t.noticed(then, t.was)}
		if len(s.then) == 0 {
			continue
		}
		now, err := t.run(ctx, m, nil)
		if err != nil {
			return nil, err
		}
		if s.now = t.noticed(now, t.is); slices.ContainsFunc(s.now,
			func(name string) bool { return !slices.Contains(s.then, name) }) {
			continue // another test notices it now
		}
		all = append(all, s)
	}
	found := blind(all, t.is)
	if len(found) == 0 {
		return nil, nil
	}
	again, err := t.run(ctx, found[0].mutant, t.undo.files)
	if err != nil || !slices.Contains(t.noticed(again, t.was), found[0].then[0]) {
		return nil, err
	}
	var lines []string
	for _, s := range found {
		lines = append(lines, fmt.Sprintf("before its change, %s failed when %q became %q in %s; "+
			"now it passes", s.then[0],
			s.mutant.Was, s.mutant.Now, s.mutant.Path))
	}
	return lines, nil
}

// blind returns, for each test that noticed at least two mutants and now notices none, the first of them. A test that
// is gone counts if no other one notices them.
func blind(all []sight, is gate.Report) (found []sight) {
	var left []string
	unnamed := true
	for _, r := range is.Results {
		left = append(append(left, r.Name), r.Tests.PassedTests()...)
		unnamed = unnamed && len(r.Tests.PassedTests()) == 0
	}
	lost, still := map[string][]mutate.Mutant{}, map[string]bool{}
	for _, s := range all {
		for _, name := range s.then {
			if len(s.now) == 0 || unnamed || slices.Contains(left, name) {
				lost[name] = append(lost[name], s.mutant)
			}
		}
		for _, name := range s.now {
			still[failure.Bare(name)] = true // of a test that moved, too
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		if len(lost[name]) >= unseen && !still[failure.Bare(name)] {
			found = append(found, sight{mutant: lost[name][0], then: []string{name}})
		}
	}
	return found
}

// noticed returns the tests that fail in a run and pass without the mutant.
func (t *trial) noticed(with, without gate.Report) (all []string) {
	for i, r := range with.Results {
		base := without.Results[i]
		if r.Passed || r.TimedOut || failure.OfBuild(r.Output) {
			continue
		}
		passed, red := base.Tests.PassedTests(), base.Tests.StillFailed()
		failed := slices.DeleteFunc(r.Tests.FailedTests(), func(f report.Test) bool {
			// The report of unittest names only failures.
			return len(passed) > 0 && !slices.Contains(passed, f.Name) || slices.Contains(red, f.Name)
		})
		for _, f := range failed {
			all = append(all, f.Name)
		}
		if len(failed) == 0 && base.Passed {
			all = append(all, r.Name)
		}
	}
	return all
}
