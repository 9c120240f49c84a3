package retest

import (
	"context"
	"fmt"
	"path"
	"slices"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
)

// oldCode runs the tests of now with the code as it was. What failed before the task must fail then, or the tests alone
// turned it green.
func (x *probe) oldCode(ctx context.Context) ([]string, error) {
	u := plan(x.files, x.green, "")
	if len(u.tests)+len(u.added) == 0 {
		return nil, nil
	}
	code := x.code(u)
	var rows []gate.Check
	for _, c := range x.green {
		if _, red := x.m.red[c.Name]; red {
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
	for _, r := range then.Results {
		if entry, red := x.m.red[r.Name]; red && len(passing(r, entry)) > 0 &&
			!(len(entry.Failed) == 0 && audit.AsksForLess(x.text)) {
			bent = append(bent, r)
		}
	}
	if len(bent) == 0 {
		return nil, nil
	}
	before, err := x.with(ctx, rows,
		slices.Concat(code, slices.DeleteFunc(slices.Clone(x.files), func(f git.Text) bool { return !u.takes(f) })))
	if err != nil {
		return nil, err
	}
	var found []string
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
			if !isTest(f.Path) {
				code = append(code, f)
			}
			continue
		}
		if path.Ext(f.Path) == ".rs" && !isTest(f.Path) {
			before, _, after := audit.Inline(f.Before)
			if _, tests, _ := audit.Inline(f.After); tests != "" {
				f.Before = before + tests + after
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
