package retest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
)

// pathPatterns match paths.
var pathPatterns = sync.OnceValue(func() (p struct {
	folder, goData, data, program, module, settings, output, code, start *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.folder = re(`(?:^|/)(?:tests?|__tests__|testdata|test[-_]data|specs?|(?:__)?fixtures?(?:__)?|__snapshots__|` +
		`goldens?|e2e)/|\.(?:snap|golden)$`)
	p.goData = re(`(?:^|/)testdata/`)
	p.data = re(`\.(?:json|csv|tsv|txt|xml|ya?ml|html?|md|sql|golden|snap|out)$`)
	p.output = re(`(?i)golden[^/]*/[^/]+\.(?:txt|json|html|csv|xml|ya?ml|md|out)$|` +
		`\.(?:golden|snap|expected|approved)(?:\.\w+)?$|` +
		`(?:^|/)expected[^/]*/[^/]+\.(?:txt|json|html|csv|xml|ya?ml|md|out)$`)
	p.program = re(`^(?:node|npm|npx|pnpm|yarn|bun|deno|jest|vitest|mocha|python3?|pytest|py\.test|tox|nox|go|cargo|` +
		`make|sh|bash|env|ruby|rspec|java|mvn|gradle|php|phpunit)$`)
	p.module = re(`^(?:_?pytest|unittest|doctest|nose2?|pluggy|sitecustomize|usercustomize)$`)
	p.settings = re(`(?:^|/)(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.ini|noxfile\.py|` +
		`(?:jest|vitest|playwright|karma|ava|mocha)[\w.-]*|\.mocharc[\w.]*|(?:GNU)?[Mm]akefile|[Jj]ustfile|` +
		`[\w.-]+\.(?:mk|sh))$`)
	p.code = re(`\.(?:go|[cm]?[jt]sx?|py|rs|java|kt|rb|php|cs|sh|bash)$|(?:^|/)[^./]+$`)
	p.start = re(`(?m)^\s*(?:(?:async )?def test|func (?:Test|Fuzz|Example)|#\[(?:\w+::)*test\b|` +
		`(?:it|test|describe)(?:\.\w+)*\(|class \w*Test|@test |test_?\w*\s*\(\)|@Test)`)
	return p
})

// isOurs reports whether a file belongs to ralph.
func isOurs(name string) bool {
	return strings.HasPrefix(name, ".ralph/") || strings.Contains(name, "/.ralph/")
}

// isTest reports whether a file is part of the tests: code, helpers or data.
func isTest(name string) bool {
	p := pathPatterns()
	if path.Ext(name) == ".go" { // its folders have any name
		return audit.IsTestFile(name) || p.goData.MatchString(name)
	}
	return audit.IsTestFile(name) || p.folder.MatchString(name)
}

// isData reports whether a file only holds data that tests read. A new one cannot hide a failure, and a
// test may have failed because it was missing.
func isData(name string) bool {
	p := pathPatterns()
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
	p := pathPatterns()
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

// isCode reports whether a file is code or a script.
func isCode(name string) bool { return pathPatterns().code.MatchString(name) }

// hasTests reports whether a test starts somewhere in a text.
func hasTests(text string) bool { return pathPatterns().start.MatchString(text) }

// isRunner reports whether a file has settings of what runs tests.
func isRunner(name string) bool { return pathPatterns().settings.MatchString(name) }

// isOutput reports whether a file is what a test expects as a whole.
func isOutput(name string) bool { return pathPatterns().output.MatchString(name) }
