package retest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
	"ralph/state/projectfs"
)

const maxTests = 1 << 20 // bytes of tests that are read

// probe tries the checks of a task that is done, in a copy of the project.
type probe struct {
	m      *memory
	p      turn.Proven
	suite  *gate.Suite
	text   string       // of the task
	green  []gate.Check // tests that pass now
	passed []gate.Check // and other checks
	files  []git.Text   // that changed since the task began
	copied *replica.Replica
}

// looks are what is tried, in order. What finds something is the last.
func (x *probe) looks() []func(context.Context) ([]string, error) {
	if audit.Excused(audit.KindGreenByTests, x.text) {
		return []func(context.Context) ([]string, error){x.planted}
	}
	return []func(context.Context) ([]string, error){x.planted, x.oldTests, x.oldCode, x.silenced, x.unnamed}
}

// tests returns the texts of the tests in the project, by their paths in the repository: about maxTests bytes at most.
func (x *probe) tests(ctx context.Context) (map[string]string, error) {
	all, size := map[string]string{}, 0
	root, ok := command.Root(x.p.Dir)
	if !ok {
		return all, nil
	}
	out, err := command.Run(ctx, x.p.Dir, "ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		if !isTest(name) || size > maxTests {
			continue
		}
		text, err := readFile(filepath.Join(root, filepath.FromSlash(name)))
		if err == nil { // one that cannot be read says nothing
			size += len(text)
			all[name] = string(text)
		}
	}
	return all, nil
}

// readFile reads a file that is not large. A link may lead out of the copy, where nothing is changed.
func readFile(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxTests) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return projectfs.Above(name).Read(name, maxTests)
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
	s.Baseline, s.Flakes, s.Progress = nil, nil, progress(x.p.Tell)
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

// with runs checks in the copy with these files as they were, and puts them back.
func (x *probe) with(ctx context.Context, rows []gate.Check, files []git.Text) (gate.Report, error) {
	s := x.suite
	if err := x.copy(ctx); err != nil {
		return gate.Report{}, err
	}
	s.Checks = rows
	for _, f := range files {
		if err := x.copied.Put(f.Path, f.Before, f.Existed); err != nil {
			return gate.Report{}, err
		}
	}
	rep, err := s.TakeBaseline(ctx, gate.Moment{})
	s.Progress = nil // one line is enough
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
