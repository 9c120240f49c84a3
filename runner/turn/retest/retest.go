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
	"slices"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/replica"
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
func New(env []string) func(context.Context, turn.Proven) ([]audit.Finding, error) {
	m := &memory{home: replica.Home(env)}
	replica.Sweep(m.home)
	return m.look
}

func (m *memory) look(ctx context.Context, p turn.Proven) ([]audit.Finding, error) {
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
		return nil, err
	}
	m.last = *now
	if !p.Done {
		return nil, nil
	}
	lines, err := m.run(ctx, p)
	return audit.GreenByTests(p.Task.ID, lines), err
}

// run returns a sentence for each check that is green for another reason than the work. It runs nothing where the
// change has no tests.
func (m *memory) run(ctx context.Context, p turn.Proven) ([]string, error) {
	text := audit.TextOf(p.Task)
	if audit.Excused(audit.KindGreenByTests, text) {
		return nil, nil
	}
	change, err := m.start.Compare(m.last).Committed(ctx, p.Dir, m.start, m.last)
	if err != nil {
		return nil, err
	}
	files, err := change.Texts(ctx, p.Dir, m.start, m.last)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f git.Text) bool { return slices.Contains(m.mine, f.Path) || isOurs(f.Path) })
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
		if f.Existed && !u.takes(f) && slices.ContainsFunc(rows, isCheck) {
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
