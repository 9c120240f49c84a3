package retest

import (
	"context"
	"fmt"
	"path"
	"slices"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/audit/asks"
	"ralph/runner/audit/failure"
	"ralph/runner/audit/hunks"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/turn/retest/paths"
)

// weakened tries the parts of tests that ask for less than before: with them as they were, the checks must still pass,
// unless the task wants something to go.
func (x *probe) weakened(ctx context.Context) ([]string, error) {
	if asks.ForLess(x.text) {
		return nil, nil
	}
	var files []git.Text
	var lines []string
	for _, f := range x.files {
		before, tests := f.Before, f.Existed && f.Exists && paths.IsTest(f.Path) && !paths.IsData(f.Path)
		if inline := paths.InlineTests(f); inline != f.After {
			before, tests = inline, true
		}
		if !tests || asks.ForValues(before, f.After, x.text) {
			continue
		}
		if w := hunks.Find(before, f.After, x.text); len(w.Lines) > 0 {
			f.Before = w.Text
			files = append(files, f)
			for _, line := range w.Lines {
				lines = append(lines, path.Base(f.Path)+": "+line)
			}
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	u := undo{files: files, overtaken: audit.Overtaken(x.files)}
	then, err := x.with(ctx, x.green, files)
	if err != nil || !slices.ContainsFunc(then.Results, func(r gate.Result) bool { return len(u.fails(r)) > 0 }) {
		return nil, err
	}
	again, err := x.with(ctx, x.green, files)
	if err != nil {
		return nil, err
	}
	now, err := x.with(ctx, x.green, nil)
	if err != nil {
		return nil, err
	}
	var found []string
	for i, r := range then.Results {
		twice := u.fails(again.Results[i])
		left := slices.DeleteFunc(u.fails(r), func(name string) bool { return !slices.Contains(twice, name) })
		if len(left) > 0 && now.Results[i].Passed {
			found = append(found, fmt.Sprintf("check %s: %s; as it was, this fails: %s", r.Name,
				"it passes only since the tests ask for less ("+termtext.Some(lines, 2)+")",
				termtext.Some(left, named)))
		}
	}
	return found, nil
}

// fails are the failed tests of a check, or its name if it names none, unless what failed is the build or a name.
func (u undo) fails(r gate.Result) (all []string) {
	if r.Passed || r.TimedOut || r.Verdict == gate.VerdictSkipped {
		return nil
	}
	for _, t := range r.Tests.FailedTests() {
		if !u.excuses(t) && !failure.OfNames(t.Message) && !failure.OfBuild(t.Message) {
			all = append(all, t.Name)
		}
	}
	if !slices.ContainsFunc(r.Tests.Tests, func(t report.Test) bool { return t.Status == report.Failed }) &&
		!failure.OfNames(r.Output) && !failure.OfBuild(r.Output) {
		all = append(all, r.Name)
	}
	return all
}
