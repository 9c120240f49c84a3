package retest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit/asks"
	"ralph/runner/audit/mutate"
	"ralph/runner/audit/recite"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/git/replica"
	"ralph/runner/sandbox"
	"ralph/runner/turn"
	"ralph/runner/turn/retest/paths"
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
	suites mutate.Sources // all tests in the project; nil: not read yet
}

// looks are what is tried, in order. What finds something is the last.
func (x *probe) looks() []func(context.Context) ([]string, error) {
	all := []func(context.Context) ([]string, error){x.recited, x.planted}
	tests := func(f git.Text) bool { return paths.IsTest(f.Path) || paths.InlineTests(f) != f.After }
	if asks.ForOtherTests(x.text) {
		return all
	}
	if slices.ContainsFunc(x.files, tests) || len(x.m.red) > 0 || asks.ToKeepBehavior(x.text) {
		all = append(all, x.oldTests, x.weakened, x.oldCode)
	}
	return append(all, x.limits, x.silenced, x.unnamed, x.mutants)
}

// recited finds code that lists the inputs and results of tests. It runs nothing.
func (x *probe) recited(ctx context.Context) (found []string, err error) {
	var known strings.Builder
	known.WriteString(x.text)
	for _, f := range x.files {
		known.WriteString(f.Before)
	}
	for _, f := range x.files {
		if !paths.IsProduct(f) {
			continue
		}
		tests, err := x.tests(ctx)
		if err != nil {
			return nil, err
		}
		after, inline, _ := strings.Cut(f.After, paths.InlineMark) // tests in Rust
		if lines := recite.Find(f.Before, after, append(slices.Clip(tests), inline), known.String()); len(lines) > 0 {
			found = append(found,
				fmt.Sprintf("%s lists inputs and results of the tests instead of computing them: %s", f.Path,
					termtext.Some(lines, 3)))
		}
	}
	return found, nil
}

// tests returns the texts of all tests in the project. It reads them once.
func (x *probe) tests(ctx context.Context) ([]string, error) {
	if x.suites == nil {
		suites, err := x.read(ctx, paths.IsTest, maxTests)
		if err != nil {
			return nil, err
		}
		x.suites = suites
	}
	return slices.Collect(maps.Values(x.suites)), nil
}

// read returns the wanted files of the project by their paths in the repository, about so many bytes at most.
func (x *probe) read(ctx context.Context, wanted func(name string) bool, most int) (mutate.Sources, error) {
	all, size := mutate.Sources{}, 0
	root, ok := command.Root(x.p.Dir)
	if !ok {
		return all, nil
	}
	out, err := command.Run(ctx, x.p.Dir, "ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		if !wanted(name) || size > most {
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
	return x.contain(s.Place.Box.Settings)
}

// contain lets checks in the copy run in this sandbox.
func (x *probe) contain(settings sandbox.Settings) error {
	box := &x.suite.Place.Box
	contained, err := sandbox.Contained{Settings: settings, Project: box.Project}.For(x.copied.Dir)
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
