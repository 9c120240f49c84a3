package retest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"sync"

	"ralph/runner/audit/asks"
	"ralph/runner/audit/hunks"
	"ralph/runner/audit/mutate"
	"ralph/runner/audit/values"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/turn/retest/paths"
)

const (
	mostPlanted = 4 // tests that are made to fail
	mostMissing = 2 // expected outputs that are taken away
)

// planted tries whether the checks still notice a test that fails, or an expected output that is missing, where what
// runs or helps the tests changed.
func (x *probe) planted(ctx context.Context) ([]string, error) {
	rows := slices.DeleteFunc(x.quick(), func(c gate.Check) bool { _, red := x.m.red[c.Name]; return red })
	runs := func(f git.Text) bool {
		script := func(c gate.Check) bool { return x.names(c, f.Path) }
		return f.Existed && f.Exists && (paths.IsRunner(f.Path) || path.Base(f.Path) == "Cargo.toml" ||
			slices.ContainsFunc(rows, script) ||
			paths.IsTest(f.Path) && !paths.IsData(f.Path) && !hunks.HasTests(f.After))
	}
	if len(rows) == 0 || asks.ToLetFail(x.text) || !slices.ContainsFunc(x.files, runs) {
		return nil, nil
	}
	if _, err := x.tests(ctx); err != nil {
		return nil, err
	}
	noticed := map[string]bool{}
	left := map[bool]int{false: mostPlanted, true: mostMissing}
	for _, name := range slices.Sorted(maps.Keys(x.suites)) {
		missing := paths.IsOutput(name)
		changed := func(f git.Text) bool { return f.Path == name && (runs(f) || !f.Existed) }
		text := mutate.Planted(name, x.suites[name])
		if left[missing] == 0 || slices.ContainsFunc(x.files, changed) || text == "" && !missing {
			continue
		}
		left[missing]--
		victim := git.Text{Path: name, Before: text, After: x.suites[name], Existed: !missing, Exists: true}
		now, err := x.passes(ctx, rows, []git.Text{victim})
		if err != nil {
			return nil, err
		}
		if noticed[path.Dir(name)] = len(now) == 0; len(now) == 0 || asks.ForLess(x.text) {
			continue
		}
		then, err := x.passes(ctx, rows, x.before(victim))
		if err != nil {
			return nil, err
		}
		lost := values.Without(now, then)
		if len(lost) == 0 {
			continue
		}
		was, err := x.passes(ctx, rows, x.files) // it may have failed for another reason
		if err != nil {
			return nil, err
		}
		if slices.Contains(was, lost[0]) {
			return []string{fmt.Sprintf("check %s: it passes even if %s %s, and did not before the task", lost[0], name,
				map[bool]string{true: "is missing", false: "fails"}[missing])}, nil
		}
	}
	return x.idle(ctx, rows, noticed)
}

// idle reports new test files that the task asks for but no check runs: every check still passes when all of them fail,
// although the checks notice failures of old tests in the same folders.
func (x *probe) idle(ctx context.Context, rows []gate.Check, noticed map[string]bool) ([]string, error) {
	if !asks.ForTests(x.text) || asks.ForSkips(x.text) {
		return nil, nil
	}
	var fresh []git.Text
	for _, f := range x.files {
		text := mutate.Planted(f.Path, f.After)
		if f.Existed || !paths.IsTest(f.Path) || text == "" || !hunks.HasTests(f.After) ||
			!noticed[path.Dir(f.Path)] || elsewhere().MatchString(f.Path+"\n"+f.After) {
			continue
		}
		f.Before, f.Existed = text, true
		fresh = append(fresh, f)
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	now, err := x.passes(ctx, rows, fresh)
	if err != nil || len(now) < len(rows) {
		return nil, err
	}
	return []string{fmt.Sprintf("the new tests of %s do not run: no check fails if they do", fresh[0].Path)}, nil
}

// elsewhere matches the path and text of a Go test that runs on other systems, or on request only.
var elsewhere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\S*_(?:windows|darwin|linux|freebsd|openbsd|netbsd|android|ios|js|wasip1|plan9|` +
		`solaris|aix|amd64|arm64|arm|386)_test\.go\n|(?m:^//(?:go:build| \+build) )`)
})

// passes returns the checks that pass with these files as they were.
func (x *probe) passes(ctx context.Context, rows []gate.Check, files []git.Text) (all []string, err error) {
	rep, err := x.with(ctx, rows, files)
	for _, r := range rep.Results {
		if r.Passed && err == nil {
			all = append(all, r.Name)
		}
	}
	return all, err
}

// before are all files as they were, but one test that is made to fail.
func (x *probe) before(victim git.Text) []git.Text {
	all := []git.Text{victim}
	for _, f := range x.files {
		switch {
		case f.Path != victim.Path:
			all = append(all, f)
		case victim.Existed:
			all[0].Before = mutate.Planted(f.Path, f.Before)
		}
	}
	return all
}
