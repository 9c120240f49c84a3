package retest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
)

const (
	mostPlanted = 4               // tests that are made to fail
	mostMissing = 2               // expected outputs that are taken away
	quickCheck  = 7 * time.Second // how long a check may take
)

// planted tries whether the checks still notice a test that fails, or an expected output that is missing, where what
// runs or helps the tests changed.
func (x *probe) planted(ctx context.Context) ([]string, error) {
	rows := slices.DeleteFunc(x.quick(), func(c gate.Check) bool { _, red := x.m.red[c.Name]; return red })
	runs := func(f git.Text) bool {
		script := func(c gate.Check) bool { return x.names(c, f.Path) }
		return f.Existed && f.Exists && (isRunner(f.Path) || path.Base(f.Path) == "Cargo.toml" ||
			slices.ContainsFunc(rows, script) ||
			isTest(f.Path) && !isData(f.Path) && !hasTests(f.After))
	}
	if len(rows) == 0 || audit.Excused(audit.KindChecksChanged, x.text) || !slices.ContainsFunc(x.files, runs) {
		return nil, nil
	}
	tests, err := x.tests(ctx)
	if err != nil {
		return nil, err
	}
	left := map[bool]int{false: mostPlanted, true: mostMissing}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		missing := isOutput(name)
		changed := func(f git.Text) bool { return f.Path == name && (runs(f) || !f.Existed) }
		text := failing(name, tests[name])
		if left[missing] == 0 || slices.ContainsFunc(x.files, changed) || text == "" && !missing {
			continue
		}
		left[missing]--
		victim := git.Text{Path: name, Before: text, After: tests[name], Existed: !missing, Exists: true}
		now, err := x.passes(ctx, rows, []git.Text{victim})
		if err != nil {
			return nil, err
		}
		if len(now) == 0 || audit.AsksForLess(x.text) {
			continue
		}
		then, err := x.passes(ctx, rows, x.before(victim))
		if err != nil {
			return nil, err
		}
		lost := audit.Without(now, then)
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
	return nil, nil
}

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
			all[0].Before = failing(f.Path, f.Before)
		}
	}
	return all
}

// failing is a file of tests that fails as soon as it runs; empty: its language is not known.
func failing(name, text string) string {
	first, rest := "", text
	if strings.HasPrefix(text, "#!") {
		first, rest, _ = strings.Cut(text, "\n")
		first += "\n"
	}
	switch path.Ext(name) {
	case ".sh", ".bash":
		return first + "exit 1\n" + rest
	case ".py":
		return first + "assert False, 'planted'\n" + rest
	case ".js", ".mjs", ".cjs", ".ts":
		return first + "throw new Error('planted');\n" + rest
	case ".go":
		return text + "\nfunc init() { panic(\"planted\") }\n"
	case ".rs":
		return text + "\ncompile_error!(\"planted\");\n"
	}
	return ""
}

// quick returns the checks that are fast enough to run many times.
func (x *probe) quick() (rows []gate.Check) {
	for _, r := range x.p.Report.Results {
		if !r.Passed || r.Duration > quickCheck ||
			!slices.ContainsFunc(x.green, func(c gate.Check) bool { return c.Name == r.Name }) {
			continue
		}
		c := r.Check
		c.Timeout = 10*time.Second + 5*r.Duration // what is planted may never end
		rows = append(rows, c)
	}
	return rows
}
