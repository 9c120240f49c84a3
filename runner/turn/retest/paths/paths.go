// Package paths tells what role a changed file has in the tests, mostly from its name: names and texts in, yes or no
// out.
package paths

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

// patterns match paths.
var patterns = sync.OnceValue(func() (p struct {
	folder, goData, data, program, module, settings, output, code, settingsFile *regexp.Regexp
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
	p.settingsFile = re(`(?:^|/)[\w.-]*\.(?:conf|cfg|ini|toml|jsonc?|ya?ml|properties|xml|env|rc)$|(?:^|/)\.[\w-]+$`)
	return p
})

// Ours reports whether a file belongs to ralph.
func Ours(name string) bool {
	return strings.HasPrefix(name, ".ralph/") || strings.Contains(name, "/.ralph/")
}

// IsTest reports whether a file is part of the tests: code, helpers or data.
func IsTest(name string) bool {
	p := patterns()
	if path.Ext(name) == ".go" { // its folders have any name
		return audit.IsTestFile(name) || p.goData.MatchString(name)
	}
	return audit.IsTestFile(name) || p.folder.MatchString(name)
}

// IsData reports whether a file only holds data that tests read. A new one cannot hide a failure, and a
// test may have failed because it was missing.
func IsData(name string) bool {
	p := patterns()
	return p.data.MatchString(name) && !p.settings.MatchString(name)
}

// InlineMark is what tests in the code of Rust begin with.
const InlineMark = "#[cfg(test)]"

// InlineTests is a file of Rust with the tests that it had before; any other file as it is.
func InlineTests(f git.Text) string {
	_, was, had := strings.Cut(f.Before, InlineMark)
	code, is, has := strings.Cut(f.After, InlineMark)
	if path.Ext(f.Path) != ".rs" || !f.Exists || !had || has && was == is {
		return f.After
	}
	return code + InlineMark + was
}

// Replaces reports whether a new file stands in for a test runner, or is loaded before it.
func Replaces(name string, checks []gate.Check) bool {
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

// IsProduct reports whether a file is code that is not part of the tests, and has more lines than before.
func IsProduct(f git.Text) bool {
	return f.Exists && f.Before != f.After && !IsTest(f.Path) && patterns().code.MatchString(f.Path)
}

// IsCode reports whether a file is code or a script.
func IsCode(name string) bool { return patterns().code.MatchString(name) }

// IsRunner reports whether a file has settings of what runs tests.
func IsRunner(name string) bool { return patterns().settings.MatchString(name) }

// IsSettings reports whether a file is a settings file.
func IsSettings(name string) bool { return patterns().settingsFile.MatchString(name) }

// IsOutput reports whether a file is what a test expects as a whole.
func IsOutput(name string) bool { return patterns().output.MatchString(name) }
