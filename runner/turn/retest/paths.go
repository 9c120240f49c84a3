package retest

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
)

// patterns match paths, lines of settings, and what test runners print.
var patterns = sync.OnceValue(func() (p struct {
	folder, goData, data, program, module, settings, loads, lacks, rigs, builds, goTesting, library, ownTest *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.folder = re(`(?:^|/)(?:tests?|__tests__|testdata|test[-_]data|specs?|(?:__)?fixtures?(?:__)?|__snapshots__|` +
		`goldens?|e2e)/|\.(?:snap|golden)$`)
	p.goData = re(`(?:^|/)testdata/`)
	p.data = re(`\.(?:json|csv|tsv|txt|xml|ya?ml|html?|md|sql|golden|snap|out)$`)
	p.program = re(`^(?:node|npm|npx|pnpm|yarn|bun|deno|jest|vitest|mocha|python3?|pytest|py\.test|tox|nox|go|cargo|` +
		`make|sh|bash|env|ruby|rspec|java|mvn|gradle|php|phpunit)$`)
	p.module = re(`^(?:_?pytest|unittest|doctest|nose2?|pluggy|sitecustomize|usercustomize)$`)
	p.settings = re(`(?:^|/)(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.ini|noxfile\.py|` +
		`(?:jest|vitest|playwright|karma|ava|mocha)[\w.-]*|\.mocharc[\w.]*|(?:GNU)?[Mm]akefile|[Jj]ustfile|` +
		`[\w.-]+\.(?:mk|sh))$`)
	p.loads = re(`(?i)test|spec|jest|mocha|addopts|setup|reporter|runner|plugin|hook|loader|--import|--require| -r `)
	p.lacks = re(`fixture '(\w+)' not found|No module named '([\w.]+)'|Cannot find module '([^']+)'`)
	p.rigs = re(`\bpytest_\w+\(|\bautouse\b|\bcollect_ignore|\bsys\.|\bsetattr\(|\bmock\b`)
	p.goTesting = re(`(?m)^(?:import )?\s*"testing"$`)
	p.library = re(`(?m)^\s*(?:import|from) (?:pytest|unittest)\b|(?:\bfrom|\brequire\() *['"](?:node:test|(?:node:)?assert(?:/strict)?|` +
		`vitest|chai|@jest/globals)['"]`)
	p.ownTest = re(`(?m)^\s*(?:(?:async )?def test|class \w*Test|(?:it|test|describe)\()`)
	p.builds = re(strings.Join([]string{`\[(?:build|setup) failed\]`, `\bundefined: `, // what does not build, or is not there
		`declared and not used`, `imported and not used`, `(?m)^error\[E\d+\]`, `could not compile`,
		`too many arguments`, `not enough arguments`, `cannot use `, `missing return`,
		`(?i)syntax error`, `unexpected end of file`, `unexpected EOF`, `(?i)command not found`, `: not found`,
		`No such file`, `unbound variable`, `ENOENT`, `(?i)unknown (?:option|command|flag)`, `(?i)invalid option`,
		`(?:Name|Attribute|Import|ModuleNotFound|NoMethod|Reference|Type|Syntax)Error`, `fixture '`,
		`is not a function`, `Cannot find module`, `undefined method`}, "|"))
	return p
})

// isOurs reports whether a file belongs to ralph.
func isOurs(name string) bool {
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

// isHelper reports whether a file had code for tests, by what it loaded: in Go anywhere, else where its path says so,
// since programs check themselves with the same libraries.
func isHelper(f git.Text) bool {
	p := patterns()
	if path.Ext(f.Path) == ".go" {
		return p.goTesting.MatchString(f.Before)
	}
	return audit.IsAboutTests(f.Path) && p.library.MatchString(f.Before) && !p.ownTest.MatchString(f.Before)
}

// isData reports whether a file only holds data that tests read. A new one cannot hide a failure, and a
// test may have failed because it was missing.
func isData(name string) bool {
	p := patterns()
	return p.data.MatchString(name) && !p.settings.MatchString(name)
}

// inlineTests is a file of Rust with the tests that it had before; any other file as it is.
func inlineTests(f git.Text) string {
	_, was, _ := audit.Inline(f.Before)
	before, is, after := audit.Inline(f.After)
	if path.Ext(f.Path) != ".rs" || !f.Exists || was == "" || was == is {
		return f.After
	}
	return before + was + after
}

// replacesRunner reports whether a new file stands in for a test runner, or is loaded before it.
func replacesRunner(name string, checks []gate.Check) bool {
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

// isRunner reports whether a file has settings of what runs tests.
func isRunner(name string) bool { return patterns().settings.MatchString(name) }

// isScript reports whether the command of a check in a project names a file of the repository: "sh check.sh", "./check.sh".
func isScript(project string, c gate.Check, file string) bool {
	inside := ""
	if root, ok := command.Root(project); ok {
		if dir, err := filepath.EvalSymlinks(project); err == nil {
			inside, _ = filepath.Rel(root, dir)
		}
	}
	return slices.ContainsFunc(strings.Fields(c.Command), func(word string) bool {
		return path.Join(filepath.ToSlash(inside), c.Dir, word) == file
	})
}
