package retest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/audit/asks"
	"ralph/runner/audit/names"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
	"ralph/runner/turn/retest/paths"
)

// longest is how long a check may take to be run for new tests alone.
const longest = 5 * time.Minute

// oldCode runs the tests of now with the code as it was. What failed before the task must fail then, or the tests alone
// turned it green; and new tests that the task asks for must not all pass, or they prove nothing.
func (x *probe) oldCode(ctx context.Context) ([]string, error) {
	u := plan(x.files, x.green, "")
	if len(u.tests)+len(u.added) == 0 || asks.ToMendTests(x.text) {
		return nil, nil
	}
	code := x.code(u)
	fresh := x.fresh(code)
	var rows []gate.Check
	for _, c := range x.green {
		if _, red := x.m.red[c.Name]; red || len(fresh[c.Name]) > 0 {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	then, err := x.with(ctx, rows, code)
	if err != nil {
		return nil, err
	}
	var bent []gate.Result
	var found []string
	for _, r := range then.Results {
		if entry, red := x.m.red[r.Name]; red && len(passing(r, entry)) > 0 &&
			!(len(entry.Failed) == 0 && asks.ForRemoval(x.text)) {
			bent = append(bent, r)
		}
		if all := fresh[r.Name]; len(all) > 0 && len(passing(r, gate.Entry{Failed: all})) == len(all) {
			found = append(found, fmt.Sprintf("check %s: the new tests pass with the code as it was, too, "+
				"so they do not show that the task is done: %s", r.Name, termtext.Some(all, named)))
		}
	}
	if len(bent) == 0 {
		return found, nil
	}
	before, err := x.with(ctx, rows,
		slices.Concat(code, slices.DeleteFunc(slices.Clone(x.files), func(f git.Text) bool { return !u.takes(f) })))
	if err != nil {
		return nil, err
	}
	for _, r := range bent {
		entry := x.m.red[r.Name]
		i := slices.IndexFunc(before.Results, func(o gate.Result) bool { return o.Name == r.Name })
		if i < 0 || before.Results[i].Passed {
			continue // flaky, or an earlier task mended it
		}
		failed := before.Results[i].Tests
		lacks := slices.DeleteFunc(failed.FailedTests(), func(t report.Test) bool { return !u.excuses(t) })
		still := slices.DeleteFunc(passing(r, entry), func(name string) bool {
			lacked := slices.ContainsFunc(lacks, func(t report.Test) bool { return t.Name == name })
			return name != r.Name && !slices.Contains(failed.StillFailed(), name) || lacked
		})
		if len(still) > 0 {
			found = append(found, fmt.Sprintf("check %s: failed before the task, and passes with the code as it was, so only %s made it pass: %s",
				r.Name, termtext.Some(slices.Concat(u.tests, u.added), named), termtext.Some(still, named)))
		}
	}
	return found, nil
}

// code is what changed and is not part of the tests, as it was.
func (x *probe) code(u undo) (code []git.Text) {
	for _, f := range x.files {
		if !u.takes(f) {
			if !paths.IsTest(f.Path) {
				code = append(code, f)
			}
			continue
		}
		if path.Ext(f.Path) == ".rs" && !paths.IsTest(f.Path) {
			was, _, _ := strings.Cut(f.Before, paths.InlineMark)
			if _, tests, ok := strings.Cut(f.After, paths.InlineMark); ok {
				f.Before = was + paths.InlineMark + tests
				code = append(code, f)
			}
		}
	}
	return code
}

// passing are the tests of an entry that pass in a run, or the name of the check if the entry names none.
func passing(r gate.Result, e gate.Entry) (all []string) {
	if len(e.Failed) == 0 {
		if r.Passed && r.Verdict != gate.VerdictSkipped {
			return []string{r.Name}
		}
		return nil
	}
	for _, t := range r.Tests.Tests {
		if t.Status == report.Passed && slices.Contains(e.Failed, t.Name) {
			all = append(all, t.Name)
		}
	}
	return all
}

// fresh are the tests that are new since the baseline, by check, if the task is one that they must show: it adds a
// function that they name, or wants a mistake mended and a test for it.
func (x *probe) fresh(code []git.Text) map[string][]string {
	if len(code) == 0 || !x.adds(code) && !(asks.ToShowBug(x.text)) {
		return nil
	}
	all := map[string][]string{}
	for _, r := range x.p.Report.Results {
		was := x.p.Checks.Baseline.Tests(r.Name)
		if !r.Passed || r.Duration > longest || was.Names == nil && was.Ran > 0 {
			continue
		}
		for _, t := range r.Tests.Tests {
			if _, known := slices.BinarySearch(was.Names, t.Name); !known && t.Status == report.Passed {
				all[r.Name] = append(all[r.Name], t.Name)
			}
		}
	}
	return all
}

// adds reports whether the task names a function that the code did not have, and the new tests use.
func (x *probe) adds(code []git.Text) bool {
	return slices.ContainsFunc(names.Of(x.text), func(name string) bool {
		was := func(f git.Text) bool { return names.In(f.Before, name) }
		is := func(f git.Text) bool { return names.In(f.After, name) }
		return !slices.ContainsFunc(x.files, was) && slices.ContainsFunc(code, is) &&
			slices.ContainsFunc(x.files, func(f git.Text) bool { return paths.IsTest(f.Path) && is(f) })
	})
}
