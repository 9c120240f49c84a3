package audit

import (
	"regexp"
	"slices"
	"sync"
)

// language is a row: which files contain tests, and what a skipped test looks like. The patterns match single trimmed
// lines unless stated otherwise, from their start, so that words in comments and strings do not match.
type language struct {
	tests  *regexp.Regexp // path of a file that the test runner loads
	code   *regexp.Regexp // path of any file of the language
	test   *regexp.Regexp // start of a test
	name   *regexp.Regexp // a test or group of tests; group 1 is its name
	mark   *regexp.Regexp // skips the test named on the same line or below: a decorator, xit()
	call   *regexp.Regexp // skips the test named above: t.Skip()
	whole  *regexp.Regexp // skips the whole file
	script bool           // a file in which no test starts is a test by itself
	// mute matches in the whole text. Each match keeps other tests from running or failing, also in a new file; nil: none.
	mute *regexp.Regexp
}

// never is the pattern of an unused column.
const never = `\x00never`

var languages = sync.OnceValue(func() []language {
	re := regexp.MustCompile
	return []language{
		{ // Go
			code: re(`\.go$`), tests: re(`(?:^|/)[^._/][^/]*_test\.go$`),
			test: re(`^func (?:\([^)]*\) )?(?:Test|Fuzz|Example)(?:[^a-z]|$)`),
			name: re(`^func (?:\([^)]*\) )?(\w+)`),
			mark: re(never), call: re(`^\w+(?:\.T\(\))?\.Skip(?:f|Now)?\(`),
			whole: re(`^//(?:go:build| \+build) `),
			mute:  re(`(?m)^func TestMain\([^)]*\) \{\n(?:(?:\t[^\n]*)?\n)*?\tos\.Exit\(0\)`),
		},
		scriptLanguage(),
		{ // Python
			code: re(`\.py$`), tests: re(`(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$`),
			test: re(`^(?:async )?def test`), name: re(`^(?:(?:async )?def|class) (\w+)`),
			mark:  re(`^@(?:pytest\.mark|mark|unittest)\.(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b`),
			call:  re(`^(?:self\.skipTest|pytest\.(?:skip|xfail))\(|^raise (?:unittest\.)?SkipTest`),
			whole: re(`^pytestmark\s*=.*\b(?:skip|xfail)\b|^pytest\.skip\(.*allow_module_level|^__test__\s*=\s*False`),
			mute: re(`(?m)^collect_ignore\w*\s*\+?=\s*\[[^\]]*(?:test|\*)|^[ \t]+session\.exitstatus\s*=\s*0|` +
				`^[ \t]+\w+\.outcome\s*=\s*["']passed`),
		},
		{ // Rust; tests are in the code
			code: re(`\.rs$`), tests: re(`\.rs$`),
			test: re(`^#\[(?:\w+::)*(?:test|rstest|test_case)\b`), name: re(`^(?:pub )?(?:async )?(?:fn|mod) (\w+)`),
			mark: re(`^#\[ignore\b|^#\[cfg\((?:any\(\)|FALSE|all\(test, ?(?:not|any|feature)\b)`), call: re(never),
			whole: re(`^#!\[cfg\((?:any\(\)|FALSE)\)`),
		},
		{ // Java, Kotlin
			code: re(`\.(?:java|kt)$`), tests: re(`(?:^|/)(?:test|androidTest)/.*\.(?:java|kt)$|Tests?\.(?:java|kt)$|IT\.java$`),
			test: re(`^@(?:Test|ParameterizedTest|RepeatedTest)\b`),
			name: re(`^(?:(?:public|private|protected|internal|final|abstract|open|static|suspend)\s+)*(?:class|` +
				`fun|void)\s+(\w+|\x60[^\x60]+\x60)`),
			mark: re(`^@(?:Disabled|Ignore)\b`), call: re(never), whole: re(never),
		},
		{ // Ruby
			code: re(`\.rb$`), tests: re(`_(?:spec|test)\.rb$|(?:^|/)test_[^/]*\.rb$`),
			test: re(`^it\b|^test ["']|^def test_`),
			name: re(`^x?(?:it|describe|context|test|specify)[ (]+["'](.*?)["']|^(?:def|class) (\w+)`),
			mark: re(`^x(?:it|describe|context|specify)\b`), whole: re(never),
			call: re(`^(?:skip|pending)(?:$|[ (]["'][^"']*["']\)?$)`),
		},
		{ // bats
			code: re(`\.bats$`), tests: re(`\.bats$`),
			test: re(`^@test `), name: re(`^@test ["'](.*?)["']`),
			mark: re(never), call: re(`^skip(?:$| ["'])`), whole: re(never),
			mute: re(`(?m)^# bats test_tags=bats:focus`),
		},
		{ // shell; a script without functions for its tests is one test
			code: re(`\.sh$`), tests: re(`(?:^|/)(?:test[-_][^/]*|[^/]*[-_]test)\.sh$|(?:^|/)tests?/[^/]*\.sh$`), script: true,
			test: re(`^(?:function )?test\w*\s*\(\)`), name: re(`^(?:function )?(test\w*)`), mark: re(never), call: re(never), whole: re(never),
		},
	}
})

// scriptLanguage is the row of JavaScript and TypeScript.
func scriptLanguage() language {
	re := regexp.MustCompile
	const test = `(?:it|test|specify)`
	const group = `(?:it|test|specify|describe|context|suite)`
	return language{
		code: re(`\.(?:[cm]?[jt]s|[jt]sx)$`),
		tests: re(`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|spec|e2e)/.*\.[cm]?[jt]sx?$|` +
			`(?:^|/)test\.[cm]?[jt]sx?$`),
		test: re(`^` + test + `(?:\.(?:only|each|concurrent|serial|failing))*\s*[(\x60]`),
		name: re(`^[xf]?` + group + `(?:\.\w+)*\s*(?:\(\s*['"\x60](.*?)['"\x60]\s*[,)]|` +
			`\(.*?\)\s*\(\s*['"\x60](.*?)['"\x60]\s*[,)])`),
		mark: re(`^(?:x(?:it|test|describe|context|specify)\b|` + group +
			`(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|failing|fails|fixme)\b)\s*[(.]|^` + group +
			`\s*\(\s*(?:'[^']*'|"[^"]*"|\x60[^\x60]*\x60)\s*,\s*\{[^}]*\b(?:todo|skip): *(?:true\b|['"\x60])`),
		call:  re(`^(?:this|ctx|t)\.skip\s*\(|^pending\s*\(`),
		whole: re(never),
		mute:  re(`(?m)^[ \t]*(?:` + group + `(?:\.\w+)*\.only\s*[(.]|f(?:it|describe)\s*\()`),
	}
}

// inline reports whether tests are in the same files as the code.
func (l *language) inline() bool { return l.tests.String() == l.code.String() }

// IsTestFile reports whether a file holds tests and no other code, by its path.
func IsTestFile(path string) bool {
	l := languageOf(path)
	return l != nil && !l.inline()
}

// TestLine matches a line of a test that may stand among other code. It is a regular expression for git, too.
const TestLine = `^[[:space:]]*(#\[.*test|>>> |iex> |@Test|(it|test|describe)[[:space:](]|func (Test|Example)|def test)|assert|expect\(`

// MayHaveTests reports whether a change may have brought or changed tests.
func MayHaveTests(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		return f.Exists && IsAboutTests(f.Path) || slices.ContainsFunc(Without(lines(f.After), lines(f.Before)), paths().test.MatchString)
	})
}

// IsAboutTests reports whether a file may have to do with tests, by its path: it may be data for them.
func IsAboutTests(path string) bool { return paths().about.MatchString(path) }

// languageOf returns the row of a test file, or nil.
func languageOf(path string) *language {
	if paths().data.MatchString(path) {
		return nil
	}
	for i := range languages() {
		if l := &languages()[i]; l.tests.MatchString(path) {
			return l
		}
	}
	return nil
}

// paths are patterns of paths in all languages.
var paths = sync.OnceValue(func() (p struct{ data, code, about, test, inText *regexp.Regexp }) {
	p.inText = regexp.MustCompile(`[\w.-]+/[\w./-]*`)
	p.test = regexp.MustCompile(TestLine)
	p.about = regexp.MustCompile(`(?i)test|spec|fixture|golden|snapshot|expected|e2e|` +
		`(?:^|[/._-])(?:checks?|cases?|examples?|verify|smoke|bench\w*|fuzz\w*)(?:[/._-]|$)`)
	p.data = regexp.MustCompile(`(?:^|/)(?:testdata|test[-_]data|(?:__)?fixtures?(?:__)?|node_modules|vendor)/`)
	p.code = regexp.MustCompile(`\.(?:go|[cm]?[jt]sx?|vue|svelte|py|pyx|rs|java|kt|scala|rb|php|cs|fs|c|cc|cpp|h|hpp|` +
		`swift|ex|exs|clj|sh|bash|bats|zsh|lua|pl|sql|proto|graphql)$|(?:^|/)bin/[^/.]+$`)
	return p
})
