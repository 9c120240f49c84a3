package retest

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git/command"
)

// silenced runs checks that failed before the task without the new comments that switch them off: "// eslint-disable".
func (x *probe) silenced(ctx context.Context) ([]string, error) {
	rows := slices.DeleteFunc(slices.Clone(x.passed),
		func(c gate.Check) bool { _, red := x.m.red[c.Name]; return !red })
	var u undo
	var lines []string
	for _, f := range x.files {
		text, muted := loud(f.Before, f.After)
		if f.Exists && isCode(f.Path) && len(muted) > 0 {
			f.Before, f.Existed = text, true
			u.files, lines = append(u.files, f), append(lines, muted...)
		}
	}
	failed, err := x.onlyWithout(ctx, rows, u, func(r gate.Result) bool { return r.Passed || r.TimedOut })
	if len(failed) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("check %s: failed before the task, "+
		"and passes only because a comment switches it off: %s", failed[0].Name,
		termtext.Some(lines, named))}, err
}

// unnamed runs checks that failed before the task, and whose report names no tests, with the tests as they were.
func (x *probe) unnamed(ctx context.Context) ([]string, error) {
	var rows []gate.Check
	for _, c := range x.green {
		if e, red := x.m.red[c.Name]; red && len(e.Failed) == 0 {
			rows = append(rows, c)
		}
	}
	if audit.AsksForLess(x.text) || len(rows) == 0 {
		return nil, nil
	}
	u := plan(x.files, rows, x.text)
	for _, f := range x.files { // the script that the check is
		script := slices.ContainsFunc(rows, func(c gate.Check) bool { return x.names(c, f.Path) })
		if script && f.Existed && !slices.Contains(u.tests, f.Path) {
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	if !slices.ContainsFunc(u.files, func(f audit.File) bool {
		return f.Existed || path.Base(f.Path) == "conftest.py" || !audit.IsTestFile(f.Path)
	}) {
		return nil, nil // the check may have failed because there was no test
	}
	failed, err := x.onlyWithout(ctx, rows, u, func(r gate.Result) bool { return len(u.fails(r)) == 0 })
	if len(failed) == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("check %s: failed before the task, and still fails %s", failed[0].Name, u)}, err
}

// names reports whether the command of a check names a file: "sh check.sh", "./check.sh".
func (x *probe) names(c gate.Check, file string) bool {
	inside := ""
	if root, ok := command.Root(x.p.Dir); ok {
		if dir, err := filepath.EvalSymlinks(x.p.Dir); err == nil {
			inside, _ = filepath.Rel(root, dir)
		}
	}
	return slices.ContainsFunc(strings.Fields(c.Command), func(word string) bool {
		return path.Join(filepath.ToSlash(inside), c.Dir, word) == file
	})
}

// onlyWithout returns the checks that fail twice with files as they were and pass with those of now. The caller says
// which results are no failures.
func (x *probe) onlyWithout(ctx context.Context, rows []gate.Check, u undo,
	well func(gate.Result) bool) (failed []gate.Result, err error) {
	if len(rows) == 0 || len(u.files) == 0 {
		return nil, nil
	}
	var twice []string
	for range 2 {
		r, err := x.with(ctx, rows, u.files)
		if err != nil {
			return nil, err
		}
		failed = slices.DeleteFunc(r.Results, func(r gate.Result) bool {
			return well(r) || len(twice) > 0 && !slices.Contains(twice, r.Name)
		})
		if len(failed) == 0 {
			return nil, nil
		}
		twice = nil
		for _, r := range failed {
			twice = append(twice, r.Name)
		}
	}
	now, err := x.with(ctx, rows, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(failed, func(r gate.Result) bool {
		return !slices.ContainsFunc(now.Results, func(o gate.Result) bool { return o.Name == r.Name && o.Passed })
	}), nil
}

var muting = sync.OnceValue(func() (p struct{ mutes, strict *regexp.Regexp }) {
	re := regexp.MustCompile
	p.mutes = re(`\s*(?://|/\*|#|--)\s*(?:eslint-disable|@ts-(?:ignore|expect-error|nocheck)|nolint|noqa|` +
		`type: *ignore|pylint: *disable|ruff: *noqa|mypy: *ignore|shellcheck disable|rubocop:disable|biome-ignore|` +
		`oxlint-disable|golangci).*$|^\s*#!?\[(?:allow|expect|warn)\(.*\)\]\s*$`)
	p.strict = re(`^#!\[(?:deny|forbid)\(`)
	return p
})

// loud returns a text of code without the lines that silence a linter since before, and with those that made it strict.
func loud(before, after string) (text string, muted []string) {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	added := audit.Without(is, was)
	var kept []string
	for _, line := range is {
		if !slices.Contains(added, line) || !muting().mutes.MatchString(line) {
			kept = append(kept, line)
			continue
		}
		muted = append(muted, strings.TrimSpace(line))
		if code := muting().mutes.ReplaceAllString(line, ""); strings.TrimSpace(code) != "" {
			kept = append(kept, code)
		}
	}
	for _, line := range audit.Without(was, is) {
		if muting().strict.MatchString(line) {
			kept, muted = slices.Insert(kept, 0, line), append(muted, "without "+strings.TrimSpace(line))
		}
	}
	return strings.Join(kept, "\n"), muted
}
