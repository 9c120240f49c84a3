// Package retest runs changed tests again as they were before, to see whether a check is green
// because of the work or because of its tests.
//
// A test that failed before the task must also pass as it was before: with the code of now, the
// tests of then, and without new files that replace what runs them. So the tests run once more
// like that, in a copy of the project. If a task is to keep the behavior, they run with the
// golden files of then. If one fails twice, they also run in the copy as they are
// now: what fails there as well says nothing about the tests.
package retest

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
	"ralph/state"
)

// memory is how things stood when the task at hand began. Over the attempts of a task, the
// tests must still pass as they were before the first.
type memory struct {
	home  string // of the copies
	known bool
	task  string // id
	start git.Snapshot
	red   map[string]gate.Entry // what failed, by check
	last  git.Snapshot          // as the latest turn left it
	mine  []string              // files that people edited between turns
}

// New is a turn.Worker's Retest. It removes the copies that a killed program with this
// environment left.
func New(env []string) func(context.Context, turn.Proven) (turn.Retested, error) {
	m := &memory{home: replica.Home(env)}
	replica.Sweep(m.home)
	return m.look
}

func (m *memory) look(ctx context.Context, p turn.Proven) (r turn.Retested, err error) {
	m.mine = append(m.mine, m.last.Compare(p.Before).Files...)
	if !m.known || m.task != p.Task.ID {
		m.known, m.task, m.start, m.mine, m.red = true, p.Task.ID, p.Before, nil, map[string]gate.Entry{}
		if p.Checks.Baseline != nil {
			unwanted := audit.UnwantedTests(audit.TextOf(p.Task))
			for name, e := range p.Checks.Baseline.Checks {
				if !e.Passed && !e.Empty && !audit.AllNamed(e.Failed, unwanted) {
					m.red[name] = e
				}
			}
		}
	}
	now, err := p.Now()
	if err != nil {
		return r, err
	}
	m.last = *now
	if !p.Done {
		return r, nil
	}
	change, err := m.start.Compare(m.last).Committed(ctx, p.Dir, m.start, m.last)
	if err != nil {
		return r, err
	}
	files, err := change.Texts(ctx, p.Dir, m.start, m.last)
	if err != nil {
		return r, err
	}
	files = slices.DeleteFunc(files, func(f git.Text) bool { return slices.Contains(m.mine, f.Path) || isOurs(f.Path) })
	r.ChangedTests = changedTests(files)
	lines, err := m.run(ctx, p, files)
	r.Findings = audit.GreenByTests(p.Task.ID, lines)
	return r, err
}

// run returns a sentence for each check that is green for another reason than the work. It runs nothing where the
// change has no tests.
func (m *memory) run(ctx context.Context, p turn.Proven, files []git.Text) ([]string, error) {
	text := audit.TextOf(p.Task)
	if p.Checks.Mode == gate.ModeReport || audit.Excused(audit.KindGreenByTests, text) {
		return nil, nil
	}
	var rows []gate.Check // that failed before the task, and pass now
	for _, r := range p.Report.Results {
		if _, red := m.red[r.Name]; red && r.Passed && cmp.Or(r.Check.Kind, gate.KindTest) == gate.KindTest {
			rows = append(rows, r.Check)
		}
	}
	if len(rows) == 0 && audit.AsksForSameBehavior(text) && p.Checks.Baseline != nil {
		// Tests may follow the new shape of the code. What it writes stays as it was.
		files = slices.DeleteFunc(files, func(f git.Text) bool {
			return !f.Existed || !f.Exists || !isTest(f.Path) || !isData(f.Path)
		})
		for _, r := range p.Report.Results {
			if r.Passed && p.Checks.Baseline.Checks[r.Name].Passed && cmp.Or(r.Check.Kind, gate.KindTest) == gate.KindTest {
				rows = append(rows, r.Check)
			}
		}
	}
	u := plan(files, rows)
	for _, f := range files {
		isCheck := func(c gate.Check) bool { return isScript(p.Dir, c, f.Path) }
		if f.Existed && !u.takes(f) && !audit.AsksForOtherRules(text) && slices.ContainsFunc(rows, isCheck) {
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	rows = slices.DeleteFunc(rows, func(c gate.Check) bool { // one that names no tests may have failed because there was none
		return len(m.red[c.Name].Failed) == 0 && (audit.AsksForLess(text) || !u.changes())
	})
	if len(rows) == 0 || len(u.files) == 0 {
		return nil, nil
	}
	x := probe{m: m, p: p, suite: p.Suite(), rows: rows}
	defer x.close()
	return x.oldTests(ctx, u)
}

// oldTests runs the tests as they were.
func (x *probe) oldTests(ctx context.Context, u undo) ([]string, error) {
	then, err := x.with(ctx, u.files)
	if err != nil || len(u.suspects(then, then, x.m.red)) == 0 {
		return nil, err
	}
	again, err := x.with(ctx, u.files)
	if err != nil {
		return nil, err
	}
	now, err := x.with(ctx, nil)
	if err != nil {
		return nil, err
	}
	return u.confirmed(u.suspects(then, again, x.m.red), now), nil
}

func progress(tell func(state.Payload)) func(gate.Step) {
	return func(s gate.Step) {
		if s.Result == nil {
			tell(state.Phase{Name: state.PhaseChecking, Check: s.Check.Name, Run: state.CheckOldTests})
			return
		}
		r := *s.Result
		tell(state.Check{Name: r.Name, Command: r.Command, Run: state.CheckOldTests, Passed: r.Passed,
			Seconds: r.Duration.Seconds()})
	}
}

// undo is what is taken back for a run.
type undo struct {
	files        []git.Text // from After to Before
	tests, added []string   // changed tests; new files
	overtaken    []string   // tests that cannot pass as they were
}

// plan takes back changes of tests, and new files that replace what runs them.
func plan(files []git.Text, checks []gate.Check) (u undo) {
	for _, f := range files {
		switch {
		case isOurs(f.Path):
		case (isTest(f.Path) || isHelper(f)) && f.Existed:
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		case isTest(f.Path) && !isData(f.Path), !f.Existed && replacesRunner(f.Path, checks):
			u.files, u.added = append(u.files, f), append(u.added, f.Path)
		case inlineTests(f) != f.After:
			f.Before = inlineTests(f)
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	for _, f := range files {
		u.loaded(f, files)
	}
	u.overtaken = audit.Overtaken(files)
	return u
}

// takes reports whether a file is taken back.
func (u undo) takes(f git.Text) bool {
	return slices.ContainsFunc(u.files, func(o git.Text) bool { return o.Path == f.Path })
}

// changes reports whether more than new test files is taken back.
func (u undo) changes() bool {
	return slices.ContainsFunc(u.files, func(f git.Text) bool {
		return f.Existed || path.Base(f.Path) == "conftest.py" || !audit.IsTestFile(f.Path)
	})
}

// loaded takes back changed settings of a test runner, and the new files that they name.
func (u *undo) loaded(settings git.Text, files []git.Text) {
	p := patterns()
	if !isRunner(settings.Path) || !settings.Existed || !settings.Exists {
		return
	}
	var lines []string
	for line := range strings.Lines(settings.After) {
		if p.loads.MatchString(line) && !strings.Contains(settings.Before, strings.TrimSpace(line)) {
			lines = append(lines, line)
		}
	}
	found := false
	for _, f := range files {
		stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
		named := func(line string) bool { return strings.Contains(line, stem) }
		if f.Existed || len(stem) < 4 || !slices.ContainsFunc(lines, named) {
			continue
		}
		found = true
		if !slices.Contains(u.added, f.Path) {
			u.files, u.added = append(u.files, f), append(u.added, f.Path)
		}
	}
	if found {
		u.files, u.tests = append(u.files, settings), append(u.tests, settings.Path)
	}
}

// String says how the tests ran: "with a_test.go as before and without conftest.py".
func (u undo) String() string {
	var parts []string
	if len(u.tests) > 0 {
		parts = append(parts, "with "+termtext.Some(u.tests, named)+" as before")
	}
	if len(u.added) > 0 {
		parts = append(parts, "without "+termtext.Some(u.added, named))
	}
	return strings.Join(parts, " and ")
}

// probe runs checks in a copy of the project.
type probe struct {
	m      *memory
	p      turn.Proven
	suite  *gate.Suite
	rows   []gate.Check
	copied *replica.Replica
}

// copy makes the copy of the project in which checks run from now on.
func (x *probe) copy(ctx context.Context) error {
	if x.copied != nil {
		return nil
	}
	tree, err := x.m.last.Tree(ctx)
	if err != nil {
		return err
	}
	if x.copied, err = replica.Make(ctx, x.m.home, x.p.Dir, tree); err != nil {
		return err
	}
	s := x.suite
	s.Checks, s.Baseline, s.Progress = x.rows, nil, progress(x.p.Tell)
	s.Place.Dir, s.Place.Env = x.copied.Dir, slices.Concat(s.Place.Env, x.copied.Env())
	return x.contain()
}

// contain lets checks in the copy run in the user's sandbox.
func (x *probe) contain() error {
	box := &x.suite.Place.Box
	contained, err := sandbox.Contained{Settings: box.Settings, Project: box.Project}.For(x.copied.Dir)
	route := box.Route
	*box = contained.Box(x.copied.Dir, "")
	box.Write, box.Route = x.copied.Borrowed, route
	return err
}

// with runs the checks in the copy with these files as they were, and puts them back.
func (x *probe) with(ctx context.Context, files []git.Text) (gate.Report, error) {
	if err := x.copy(ctx); err != nil {
		return gate.Report{}, err
	}
	for _, f := range files {
		if err := x.copied.Put(f.Path, f.Before, f.Existed); err != nil {
			return gate.Report{}, err
		}
	}
	rep, err := x.suite.TakeBaseline(ctx, "")
	x.suite.Progress = nil // one line is enough
	for _, f := range files {
		if back := x.copied.Put(f.Path, f.After, f.Exists); err == nil { // after an error, too: more may run there
			err = back
		}
	}
	return rep, err
}

func (x *probe) close() {
	if x.copied != nil {
		x.copied.Close()
	}
}

const named = 4 // names in one line

// suspect are tests of a check that failed before the task and fail as they were; none: the check as a whole.
type suspect struct {
	check string
	tests []string
	why   string
}

// suspects are the tests that failed in both runs with the tests of then, and before the task if red has their check.
func (u undo) suspects(then, again gate.Report, red map[string]gate.Entry) []suspect {
	var all []suspect
	for i, r := range then.Results {
		s := suspect{check: r.Name, why: "failed before the task, and still fails"}
		if _, failed := red[r.Name]; !failed {
			s.why = "the task is to keep the behavior, but the check fails"
		}
		if len(red[r.Name].Failed) == 0 {
			if u.fails(r) && u.fails(again.Results[i]) {
				all = append(all, s)
			}
			continue
		}
		twice := again.Results[i].Tests.StillFailed()
		for _, t := range r.Tests.FailedTests() {
			if slices.Contains(twice, t.Name) && slices.Contains(red[r.Name].Failed, t.Name) && !u.excuses(t) {
				s.tests = append(s.tests, t.Name)
			}
		}
		if len(s.tests) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// excuses reports whether a test cannot pass as it was: it calls what the task removed or gave other parameters, or it
// lacks a helper that had never been there.
func (u undo) excuses(t report.Test) bool {
	if slices.ContainsFunc(u.overtaken, func(name string) bool { return strings.Contains(t.Name, name) }) {
		return true
	}
	m := patterns().lacks.FindStringSubmatch(t.Message)
	return m != nil && slices.ContainsFunc(u.files, func(f git.Text) bool {
		name := path.Base(strings.Join(m[1:], ""))
		stem, _, _ := strings.Cut(path.Base(f.Path), ".")
		return !f.Existed && !patterns().rigs.MatchString(f.After) &&
			(stem == strings.TrimSuffix(name, path.Ext(name)) || strings.Contains(f.After, "def "+name+"("))
	})
}

// confirmed are sentences about the suspects of checks that pass in the same copy with the
// tests of now.
func (u undo) confirmed(suspects []suspect, now gate.Report) []string {
	var lines []string
	for _, s := range suspects {
		i := slices.IndexFunc(now.Results, func(r gate.Result) bool { return r.Name == s.check })
		if i < 0 || !now.Results[i].Passed {
			continue
		}
		line := fmt.Sprintf("check %s: %s %s", s.check, s.why, u)
		failed := now.Results[i].Tests.StillFailed()
		tests := slices.DeleteFunc(s.tests, func(name string) bool { return slices.Contains(failed, name) })
		switch {
		case len(s.tests) == 0:
			lines = append(lines, line)
		case len(tests) > 0:
			lines = append(lines, line+": "+termtext.Some(tests, named))
		}
	}
	return lines
}

// fails reports whether a check failed, and for another reason than that something does not build or has another name.
func (u undo) fails(r gate.Result) bool {
	if r.Passed || r.TimedOut || r.Verdict == gate.VerdictSkipped {
		return false
	}
	failed := r.Tests.FailedTests()
	return len(failed) == 0 && !patterns().builds.MatchString(r.Output) || slices.ContainsFunc(failed, func(t report.Test) bool {
		return !u.excuses(t) && !patterns().builds.MatchString(t.Message)
	})
}
