package report

import (
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
)

// Format names what a command prints.
type Format string

// The formats. Auto detects the format line by line.
const (
	Auto     Format = ""
	Go       Format = "go"
	Pytest   Format = "pytest"
	Unittest Format = "unittest"
	Jest     Format = "jest" // text of jest and vitest
	Node     Format = "node" // spec reporter of node --test
	Cargo    Format = "cargo"
	TAP      Format = "tap"
	Script   Format = "script"    // "ok NAME" and "FAIL NAME" of test scripts
	ExitCode Format = "exit-code" // the output is not read
)

// Formats lists every format that has a name.
func Formats() []Format {
	return []Format{Go, Pytest, Unittest, Jest, Node, Cargo, TAP, Script, ExitCode}
}

type row struct {
	format Format
	parser func(*collector) parser
}

func rows() []row {
	return []row{
		{Go, func(c *collector) parser {
			return &goText{c: c, texts: map[string]*Excerpt{}, running: map[string]bool{}}
		}},
		{Pytest, func(c *collector) parser {
			return &pytest{c: c, sections: map[string]*Excerpt{}, after: map[string]bool{}}
		}},
		{Unittest, func(c *collector) parser { return &unittest{block: block{c: c}} }},
		{Jest, func(c *collector) parser { return &jest{block: block{c: c}} }},
		{Node, func(c *collector) parser { return &nodeSpec{block: block{c: c}} }},
		{Cargo, func(c *collector) parser { return &cargo{block: block{c: c}} }},
		{TAP, func(c *collector) parser { return &tap{c: c} }},
		{Script, func(c *collector) parser { return &script{c: c, said: newMessage()} }},
	}
}

// saysNothing reports whether a tool says that there is nothing to build or to
// test yet. A missing make target does not count: it may be a typo.
func saysNothing(line string) bool {
	line = strings.TrimSpace(line)
	starts := func(prefix string) bool { return strings.HasPrefix(line, prefix) }
	return slices.ContainsFunc([]string{
		"no packages to test", "no packages to vet",
		`go: warning: "./..." matched no packages`,
		"pattern ./...: directory prefix . does not contain ",
		"go: cannot find main module", "go: go.mod file not found", "go: no modules were found",
		"error: could not find `Cargo.toml` in ", "no targets specified in the manifest",
		"NO TESTS RAN", "Ran 0 tests in ", "Error: no test specified", "error: no test specified",
		"No tests found, exiting with code 1", "No test files found, exiting with code 1", "Error: No test files found",
		`npm error Missing script: "test"`, `npm ERR! Missing script: "test"`, `npm error Missing script: "build"`,
		`npm ERR! Missing script: "build"`,
		"npm error enoent Could not read package.json", "npm ERR! enoent ENOENT: no such file or directory, open ",
		"ERR_PNPM_NO_SCRIPT  Missing script: test", "ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND",
		"[ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND]",
		`error Command "test" not found.`, "error Couldn't find a package.json",
		"make: *** No targets specified and no makefile found.",
	}, starts) ||
		starts("===") && strings.Contains(line, " no tests ran in ")
}

// howMany matches the line in which a test runner, also one whose format ralph does not know, says how many tests ran.
var howMany = lazy.Regexp(`(?i)^\W*(?:` +
	`(?:ok \| |ok \()?(?P<n>\d+) (?:passing|passed|pass|specs?|examples?|runs|scenarios?|tests?)\b` + // mocha, bun, deno, rspec, minitest, phpunit
	`|(?:INFO\] )?(?:tests run|total tests|executed):? +(?P<n>\d+)\b` + // maven, dotnet, swift
	`|no tests? (?:files? )?(?:were )?(?:found|executed|ran|to run|is available)|> Task \S* NO-SOURCE)`) // vitest, ctest, gradle

// strip removes colors and other escape sequences.
func strip(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s // Clean would also change characters that are part of names
	}
	return termtext.Clean(s)
}
