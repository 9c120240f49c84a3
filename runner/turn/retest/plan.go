package retest

import (
	"path"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/audit"
	"ralph/runner/audit/asks"
	"ralph/runner/gate"
	"ralph/runner/git"
)

// undo is what is taken back for a run.
type undo struct {
	files        []git.Text // from After to Before
	tests, added []string   // changed tests; new files
	overtaken    []string   // tests that cannot pass as they were
	helpers      bool       // files are only helpers that assert; the tests are those of now
	keeps        bool       // what passed before must pass again
	adds         bool       // because the task only adds something
}

// plan takes back changes of tests, and new files that replace what runs them.
func plan(files []git.Text, checks []gate.Check, task string) (u undo) {
	var all []audit.File
	for _, f := range files {
		all = append(all, audit.File(f))
		switch {
		case isTest(f.Path) && f.Existed && asks.ForValues(f.Before, f.After, task):
		case ours(f.Path):
		case isTest(f.Path) && f.Existed:
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		case isTest(f.Path) && !isData(f.Path), !f.Existed && replaces(f.Path, checks):
			u.files, u.added = append(u.files, f), append(u.added, f.Path)
		case inlineTests(f) != f.After:
			f.Before = inlineTests(f)
			u.files, u.tests = append(u.files, f), append(u.tests, f.Path)
		}
	}
	for _, f := range files {
		u.loaded(f, files)
	}
	u.overtaken = audit.Overtaken(all)
	return u
}

// ours reports whether a file belongs to ralph.
func ours(name string) bool {
	return strings.HasPrefix(name, ".ralph/") || strings.Contains(name, "/.ralph/")
}

// isTest reports whether a file is part of the tests: code, helpers or data.
func isTest(name string) bool {
	p := patterns()
	if path.Ext(name) == ".go" { // its folders have any name
		return audit.IsTestFile(name) || p.goData.MatchString(name)
	}
	return audit.IsTestFile(name) || p.folder.MatchString(name)
}

// isData reports whether a file only holds what tests read. A new one hides no failure, and a
// test may have failed because it was missing.
func isData(name string) bool {
	p := patterns()
	return p.data.MatchString(name) && !p.settings.MatchString(name)
}

// inlineMark is what tests in the code of Rust begin with.
const inlineMark = "#[cfg(test)]"

// inlineTests is a file of Rust with the tests that it had before; any other file as it is.
func inlineTests(f git.Text) string {
	_, was, had := strings.Cut(f.Before, inlineMark)
	code, is, has := strings.Cut(f.After, inlineMark)
	if path.Ext(f.Path) != ".rs" || !f.Exists || !had || has && was == is {
		return f.After
	}
	return code + inlineMark + was
}

// replaces reports whether a new file stands in for a test runner, or is loaded before it.
func replaces(name string, checks []gate.Check) bool {
	p := patterns()
	dir, base := path.Split(name)
	if p.program.MatchString(base) {
		return true
	}
	if base == "__init__.py" {
		dir, base = path.Split(strings.TrimSuffix(dir, "/") + ".py")
	}
	module, python := strings.CutSuffix(base, ".py")
	if !python || dir != "" && dir != "src/" {
		return false
	}
	return p.module.MatchString(module) || slices.ContainsFunc(checks, func(c gate.Check) bool {
		_, after, _ := strings.Cut(c.Command, " -m ")
		return strings.HasPrefix(after+" ", module+" ")
	})
}

// loaded takes back changed settings of a test runner, and the new files that they name.
func (u *undo) loaded(settings git.Text, files []git.Text) {
	p := patterns()
	if !p.settings.MatchString(settings.Path) || !settings.Existed || !settings.Exists {
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
