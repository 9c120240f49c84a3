package retest

import (
	"path"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
)

// undo is what is taken back for a run.
type undo struct {
	files        []git.Text // from After to Before
	tests, added []string   // changed tests; new files
	overtaken    []string   // tests that cannot pass as they were
}

// plan takes back changes of tests, and new files that replace what runs them.
func plan(files []git.Text, checks []gate.Check) (u undo) {
	for _, f := range files {
		switch {
		case isOurs(f.Path):
		case (isTest(f.Path) || isHelper(f)) && f.Existed:
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		case isTest(f.Path) && !isData(f.Path), !f.Existed && replacesRunner(f.Path, checks):
			u.files, u.added = append(u.files, f), append(u.added, f.Path)
		case inlineTests(f) != f.After:
			f.Before = inlineTests(f)
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	for _, f := range files {
		u.loaded(f, files)
	}
	u.overtaken = audit.Overtaken(files)
	return u
}

// takes reports whether a file is taken back.
func (u undo) takes(f git.Text) bool {
	return slices.ContainsFunc(u.files, func(o git.Text) bool { return o.Path == f.Path })
}

// changes reports whether more than new test files is taken back.
func (u undo) changes() bool {
	return slices.ContainsFunc(u.files, func(f git.Text) bool {
		return f.Existed || path.Base(f.Path) == "conftest.py" || !audit.IsTestFile(f.Path)
	})
}

// loaded takes back changed settings of a test runner, and the new files that they name.
func (u *undo) loaded(settings git.Text, files []git.Text) {
	p := patterns()
	if !isRunner(settings.Path) || !settings.Existed || !settings.Exists {
		return
	}
	var lines []string
	for line := range strings.Lines(settings.After) {
		if p.loads.MatchString(line) && !strings.Contains(settings.Before, strings.TrimSpace(line)) {
			lines = append(lines, line)
		}
	}
	found := false
	for _, f := range files {
		stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
		named := func(line string) bool { return strings.Contains(line, stem) }
		if f.Existed || len(stem) < 4 || !slices.ContainsFunc(lines, named) {
			continue
		}
		found = true
		if !slices.Contains(u.added, f.Path) {
			u.files, u.added = append(u.files, f), append(u.added, f.Path)
		}
	}
	if found {
		u.files, u.tests = append(u.files, settings), append(u.tests, settings.Path)
	}
}

// String says how the tests ran: "with a_test.go as before and without conftest.py".
func (u undo) String() string {
	var parts []string
	if len(u.tests) > 0 {
		parts = append(parts, "with "+termtext.Some(u.tests, named)+" as before")
	}
	if len(u.added) > 0 {
		parts = append(parts, "without "+termtext.Some(u.added, named))
	}
	return strings.Join(parts, " and ")
}
