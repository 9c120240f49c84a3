// Package retest tells whether a check is green because of the work or because of its tests.
//
// A test that failed before the task must also pass as it was before: with the code of now, the
// tests of then, and without new files that replace what runs them. So the tests run once more
// like that, in a copy of the project. If one fails twice, they also run in the copy as they are
// now: what fails there as well says nothing about the tests.
package retest

import (
	"cmp"
	"context"
	"slices"

	"ralph/runner/audit"
	"ralph/runner/audit/asks"
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
	red   map[string][]string // failed tests, by check
	last  git.Snapshot        // as the latest turn left it
	mine  []string            // files that people edited between turns
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
		m.known, m.task, m.start, m.mine, m.red = true, p.Task.ID, p.Before, nil, map[string][]string{}
		if p.Checks.Baseline != nil {
			for name, e := range p.Checks.Baseline.Checks {
				if !e.Passed {
					m.red[name] = e.Failed
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

// run returns a sentence for each check that is green because of its tests. It runs nothing
// where no test failed before, unless the task promises to change no behavior: then no test
// that passed before may fail. Where neither is so, what asserts in the helpers of tests may not accept more.
func (m *memory) run(ctx context.Context, p turn.Proven) ([]string, error) {
	text := audit.TextOf(p.Task)
	keeps := asks.ToKeepBehavior(text)
	var rows, green []gate.Check
	for _, r := range p.Report.Results {
		if r.Passed && cmp.Or(r.Check.Kind, gate.KindTest) == gate.KindTest {
			green = append(green, r.Check)
			if keeps || len(m.red[r.Name]) > 0 {
				rows = append(rows, r.Check)
			}
		}
	}
	if len(green) == 0 || asks.ForOtherTests(text) {
		return nil, nil
	}
	change, err := m.start.Compare(m.last).Committed(ctx, p.Dir, m.start, m.last)
	if err != nil || len(rows) == 0 && !slices.ContainsFunc(change.Files, isTest) {
		return nil, err
	}
	files, err := change.Texts(ctx, p.Dir, m.start, m.last)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f git.Text) bool { return slices.Contains(m.mine, f.Path) })
	u := plan(files, rows, text)
	if len(rows) == 0 {
		u, rows = loosened(files), green
	}
	if len(u.files) == 0 {
		return nil, nil
	}
	u.keeps = keeps || u.helpers
	return m.compare(ctx, p, u, rows)
}

// compare runs the checks with the files of u as they were, and tells what only passes as they are now.
func (m *memory) compare(ctx context.Context, p turn.Proven, u undo, rows []gate.Check) ([]string, error) {
	tree, err := m.last.Tree(ctx)
	if err != nil {
		return nil, err
	}
	copied, err := replica.Make(ctx, m.home, p.Dir, tree)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	p.Suite.Checks, p.Suite.Baseline, p.Suite.Flakes = rows, nil, nil
	p.Suite.Place.Dir, p.Suite.Place.Box.Dir, p.Suite.Place.Box.Write = copied.Dir, copied.Dir, copied.Borrowed
	p.Suite.Progress = progress(p.Tell)
	then, err := u.rerun(ctx, copied, p.Suite)
	if err != nil || len(u.suspects(then, then, m.red)) == 0 {
		return nil, err
	}
	p.Suite.Progress = nil // one line is enough
	again, err := u.rerun(ctx, copied, p.Suite)
	if err != nil {
		return nil, err
	}
	now, err := u.redo().rerun(ctx, copied, p.Suite)
	return u.confirmed(u.suspects(then, again, m.red), now), err
}

// rerun runs the checks in the copy, with the files as they were before.
func (u undo) rerun(ctx context.Context, copied *replica.Replica, s *gate.Suite) (gate.Report, error) {
	for _, f := range u.files {
		if err := copied.Put(f.Path, f.Before, f.Existed); err != nil {
			return gate.Report{}, err
		}
	}
	return s.TakeBaseline(ctx, gate.Moment{})
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
