package retest

import (
	"context"
	"slices"

	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
)

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
