// Package lang reads source code as far as its tests need it: it tells code from
// comments and strings, and has one row a language that says what tests,
// assertions and skips look like. A scanner and patterns, no parsers.
package lang

import (
	"regexp"
	"sync"
)

// quote is one kind of string literal.
type quote struct {
	open, close string
	escapes     bool // a backslash protects the next byte
	lines       bool // goes on over lines
}

// Extent says where the body of a test ends.
type Extent int

// The extents.
const (
	Braces  Extent = iota // the {} behind the match
	Parens                // the () behind the match; a second () too: it.each(table)(...)
	Offside               // the lines that are indented deeper
)

// Language is one row: how to read a language, and what its tests look like.
// Patterns see Source.Code unless they say text.
type Language struct {
	Name          string
	Files         *regexp.Regexp // whole path
	TestFiles     *regexp.Regexp // whole path; tests elsewhere are not run
	LineComments  []string
	BlockComments [][2]string
	Quotes        []quote
	SlashRegexps  bool
	// HashNeedsSpace: a # inside a word is no comment.
	HashNeedsSpace bool
	// Package: the files of a folder need no import to use each other.
	Package bool
	// Wordy: commands are called without brackets, so all words of a test count.
	Wordy bool

	Extent Extent
	// Test finds a test: group 1 is its name; empty or missing: the name is the
	// first string behind the match.
	Test       *regexp.Regexp
	Heads      *regexp.Regexp // lines above a test that belong to it: decorators
	Define     *regexp.Regexp // group 1..n: the name of what a line defines
	Assertion  *regexp.Regexp // counts 2
	Weak       *regexp.Regexp // of those, the ones that nearly anything passes: counts 1
	Empty      *regexp.Regexp // the ones that cannot fail: count nothing; text
	Message    *regexp.Regexp // lines whose strings are for people: text
	Skip       *regexp.Regexp // a test does not run
	SoftSkip   *regexp.Regexp // of those, the ones with a condition of their own
	Focus      *regexp.Regexp // all other tests do not run
	FileSkip   *regexp.Regexp // text: a whole file does not run
	Hooks      *regexp.Regexp // text: tests of other files do not run or fail
	Platform   *regexp.Regexp // text: an honest condition to skip by
	DeadBranch *regexp.Regexp // what follows never runs
	Try, Catch *regexp.Regexp // headers of a block that may fail, and of the answer right behind it
	CatchAll   *regexp.Regexp // of the answers, the ones that also catch a failed assertion
	Compares   *regexp.Regexp // names of calls whose arguments are what is expected
	Suppress   *regexp.Regexp // raw text: directives that switch a linter off for a place
}

const assertCall = `\b(?:assert|require|expect|check|must|verify|should)\w*`

// never is a pattern for columns that a row does not need. It is all literal,
// which is searched for at once.
func never() *regexp.Regexp { return regexp.MustCompile("\x00never\x00") }

// All are the rows.
var All = sync.OnceValue(func() []*Language {
	return []*Language{goLanguage(), scriptLanguage(), pythonLanguage(), rustLanguage(), shellLanguage(), javaLanguage()}
})

// Inline says whether tests stand in the files of the code.
func (l *Language) Inline() bool { return l.TestFiles.String() == l.Files.String() }

// Of is the language of a file; nil: none that is known.
func Of(path string) *Language {
	for _, l := range All() {
		if l.Files.MatchString(path) {
			return l
		}
	}
	return nil
}

func goLanguage() *Language {
	re := regexp.MustCompile
	return &Language{
		Name: "go", Files: re(`\.go$`), TestFiles: re(`(^|/)[^._/][^/]*_test\.go$`),
		LineComments: []string{"//"}, BlockComments: [][2]string{{"/*", "*/"}},
		Quotes: []quote{{`"`, `"`, true, false}, {"`", "`", false, true}, {"'", "'", true, false}},
		Extent: Braces, Package: true,
		Test:   re(`(?m)^func (?:\([^)]*\) )?((?:Test|Fuzz|Example)(?:[^a-z\s(]\w*)?)\s*\(`),
		Heads:  never(),
		Define: re(`(?m)^func (?:\([^)]*\) )?(\w+)|^(?:type|var|const) (\w+)|^\t(\w+)[ \t]+(?:\[\]|\*|map\[|\w)[\w.\[\]*]*[ \t]*(?:$|\x60)|^\t([A-Z]\w+)[ \t]*(?:=.*)?$`),
		Assertion: re(`\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|` + assertCall + `\.?\w*\(|\.(?:Require|Assert)\(\)\.\w+\(|\b(?:is|qt|c|g|a|r|s|suite)\.(?:Equal|True|False|NoErr|Assert|Check|Expect|NotNil|Nil)\w*\(|` +
			`\bpanic\(|\.(?:Should|ShouldNot|To|NotTo|ToNot)\(`),
		Weak:       re(`\.(?:NotNil|NotEmpty|NotZero|NotPanics|Implements|IsType|Len\w*OrMore)f?\(`),
		Empty:      re(`\.Truef?\(t, true[,)]|\.NoErrorf?\(t, nil\)`),
		Message:    re(`\.(?:Error|Errorf|Fatal|Fatalf|Log|Logf)\(`),
		Skip:       re(`\.Skip(?:f|Now)?\(`),
		SoftSkip:   never(),
		Focus:      never(),
		FileSkip:   re(`//(?:go:build| \+build) .+`),
		Hooks:      re(`\.Run\(\)[^}]*\bos\.Exit\(0\)`),
		Platform:   re(`runtime\.GO(?:OS|ARCH)|testing\.Short\(\)|\bgoos\b|go:build.*\b(?:linux|darwin|windows|unix|race|cgo|amd64|arm64)\b`),
		DeadBranch: re(`\bif (?:false|true|0 ?== ?1|1 ?== ?0)\b`),
		Try:        never(), Catch: never(), CatchAll: never(),
		Compares: re(`(?i)^(?:\w*equals?\w*|\w*diff|contains\w*|hasprefix|hassuffix|compare|errorf|byte|rune|string|u?int\d*|float\d*)$|^(?:Is|As)$`),
		Suppress: re(`//\s*(?:nolint\b(?::[\w,-]+)?|#nosec\b(?: G\d+)*|lint:(?:file-)?ignore \S+|revive:disable\S*)`),
	}
}

func scriptLanguage() *Language {
	re := regexp.MustCompile
	return &Language{
		Name: "js", Files: re(`\.(?:[cm]?[jt]s|[jt]sx)$`),
		TestFiles:    re(`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|spec|e2e)/.*\.[cm]?[jt]sx?$|(?:^|/)test\.[cm]?[jt]sx?$`),
		LineComments: []string{"//"}, BlockComments: [][2]string{{"/*", "*/"}},
		Quotes:       []quote{{`"`, `"`, true, false}, {"'", "'", true, false}, {"`", "`", true, true}},
		SlashRegexps: true, Extent: Parens,
		Test:       re(`(?m)(?:^|[^.\w$])[xf]?(?:it|test|specify)(?:\.(?:skip|only|each|concurrent|failing|serial|fails|fixme|runIf|skipIf|todo))*\s*[(\x60]()`),
		Heads:      never(),
		Define:     re(`(?m)\b(?:function\*?|class|interface|type|enum)\s+(\w+)|^(?:export )?(?:const|let|var) (\w+)|^\s+(?:async |static |get |set )*(\w+)\s*\([^()]*\)\s*(?::[^{;]+)?\{|^\s+(\w+)\??:`),
		Assertion:  re(`\b(?:expect|expectTypeOf|assert)\w*(?:\.\w+)*\s*\(|\bt\.(?:is|deepEqual|true|false|throws|like|not|regex|assert|equal|same|ok|strictEqual)\w*\s*\(|\.should\b|\bfail\s*\(`),
		Weak:       re(`\.(?:toBeDefined|toBeTruthy|toBeFalsy|not\.toBeNull|not\.toBeUndefined|not\.toThrow|toBeInstanceOf|exist)\b|\.toThrow(?:Error)?\(\)|\.to\w*Equal\(\s*expect\.any\w*\(|\bassert\.(?:ok|exists|isDefined|doesNotThrow)\s*\(`),
		Empty:      re(`expect\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*;|expect\((?:true|1|'[^']*'|"[^"]*")\)\.(?:toBe|toEqual|toBeTruthy|to\.be|to\.equal)\w*\(?|assert(?:\.ok|\.equal|\.strictEqual)?\(true(?:, true)?\)|\bexpect\.(?:any|anything|objectContaining|arrayContaining|stringContaining|stringMatching|assertions|hasAssertions|extend)\b`),
		Message:    never(),
		Skip:       re(`\bx(?:it|test|describe|context|specify)\s*[(.]|\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.(?:skip|failing|fails|fixme|skipIf|runIf|todo)\b|\bthis\.skip\s*\(|\bctx\.skip\s*\(|\bt\.skip\s*\(|\bpending\s*\(|\bskip:\s*true`),
		SoftSkip:   re(`\.(?:skipIf|runIf|todo)\b`),
		Focus:      re(`\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.only\b|(?:^|[^.\w])(?:fit|fdescribe|ftest)\s*\(|\bonly:\s*true`),
		FileSkip:   re(`(?m)^\s*// @ts-nocheck`),
		Hooks:      never(),
		Platform:   re(`process\.platform|os\.platform\(|isWindows|isMac|win32|darwin`),
		DeadBranch: re(`\bif\s*\((?:false|true|0|1)\)|\bcatch\s*(?:\(\w*\))?\s*\{\s*\}`),
		Try:        re(`\btry\s*\{`), Catch: re(`^\s*catch\s*(?:\([^)]*\)\s*)?\{`), CatchAll: re(`catch`),
		Compares: re(`^(?:to[A-Z]\w*|\w*[eE]quals?|eql|equal|above|below|least|most|within|closeTo|includes?|contains?|length\w*|property|keys|members|throws?|match(?:es)?|String|Number|Date|BigInt|Set|Map|Error|\w+(?:Containing|Matching))$`),
		Suppress: re(`(?://|/\*)\s*(?:eslint-disable[\w-]*(?: +[\w@/, -]+)?|@ts-(?:ignore|expect-error|nocheck)\b|(?:ts|js|style)lint[:-]disable\S*|biome-ignore\S*(?: [\w/]+)?|oxlint-disable\S*|deno-lint-ignore\S*|(?:istanbul|c8|v8) ignore (?:next|if|else|file|start)\b)`),
	}
}

func pythonLanguage() *Language {
	re := regexp.MustCompile
	return &Language{
		Name: "python", Files: re(`\.py$`), TestFiles: re(`(?:^|/)(?:test[^/]*|[^/]*_test|conftest)\.py$`),
		LineComments: []string{"#"},
		Quotes:       []quote{{`"""`, `"""`, true, true}, {"'''", "'''", true, true}, {`"`, `"`, true, false}, {"'", "'", true, false}},
		Extent:       Offside,
		Test:         re(`(?m)^[ \t]*(?:async )?def (test\w*)\s*\(`),
		Heads:        re(`^\s*@`),
		Define:       re(`(?m)^\s*(?:async )?def (\w+)|^\s*class (\w+)|^(\w+)\s*(?::[^=\n]+)?=|^\s+self\.(\w+)\s*(?::[^=\n]+)?=|^\s+(\w+): `),
		Assertion:    re(`(?m)(?:^|[:;])\s*assert\b|\bself\.assert\w+\s*\(|\bself\.fail\w*\s*\(|\bpytest\.(?:raises|fail|warns|approx)\s*\(|\.assert_\w+\s*\(|\b(?:assert|check|expect|verify)_\w+\s*\(|\braise AssertionError`),
		Weak:         re(`\b(?:raises|assertRaises)\((?:Base)?Exception\b|assertIsNotNone|assertIsInstance|is not None\b|\bisinstance\(|assert_called\(`),
		Empty:        re(`(?m)(?:^|[:;])\s*assert (?:True|1|not False|"[^"]*"|'[^']*')\s*(?:,|$)|assertTrue\(True|\bpytest\.approx|(?m:^\s*assert \([^()]*,[^()]*\)\s*$)`),
		Message:      never(),
		Skip: re(`@(?:pytest\.mark|mark|unittest)\.(?:skip\w*|xfail|expectedFailure)|\bself\.skipTest\s*\(|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\braise (?:unittest\.)?SkipTest|` +
			`^pytestmark\s*=.*(?:skip|xfail)|\bpytest\.param\(.*marks|@skip\w*\b|\b__test__\s*=\s*False`),
		SoftSkip: re(`@(?:pytest\.mark|mark|unittest)\.(?:skipif|skipIf|skipUnless)|@skip(?:if|If|Unless)|importorskip`),
		Focus:    never(),
		FileSkip: re(`(?m)^pytestmark\s*=.*\b(?:skip|skipif|xfail)\b|^pytest\.skip\(|\b__test__\s*=\s*False`),
		Hooks: re(`(?m)^collect_ignore\w*(?:\s*\+?=|\.)[^\])]*(?:test|\*["'])|\.exitstatus\s*=\s*0|` +
			`^def pytest_(?:collection_modifyitems|runtest_\w+|ignore_collect|pycollect_\w+|itemcollected)\([^\n]*\n(?:(?:[ \t][^\n]*)?\n)*?[ \t][^\n]*(?:[.\s](?:skip|xfail)\b|\bitems\[:\]\s*=|\bitems\.(?:clear|remove|pop)|\bdel items|deselected|return True|\.outcome\s*=)`),
		Platform:   re(`sys\.platform|platform\.system|os\.name|sys\.version_info|getoption|get_closest_marker|win32|darwin`),
		DeadBranch: re(`\bif (?:False|True|0|1):|\bexcept\s+(?:\(?\s*AssertionError|Exception\s*(?:as \w+)?:\s*pass\b|BaseException)|\bexcept:\s*pass\b`),
		Try:        re(`(?m)^[ \t]*try:`), Catch: re(`^\s*except\b[^:\n]*:`), CatchAll: re(`except\s*\*?\s*(?::|.*\b(?:Base)?Exception\b|.*\bAssertionError\b)`),
		Compares: re(`^(?:[A-Z]\w*|\w*[eE]qual\w*|str|int|float|bool|bytes|list|dict|set|frozenset|tuple|sorted|len|approx|isclose|startswith|endswith)$`),
		Suppress: re(`#\s*(?:noqa\b(?::\s*[A-Z]+\d+(?:[, ]+[A-Z]+\d+)*)?|type:\s*ignore(?:\[[\w, -]+\])?|pylint:\s*(?:disable\S*|skip-file)|pragma:\s*no ?cover|nosec\b|mypy:\s*(?:ignore-errors|disable-error-code\S*)|(?:flake8|ruff):\s*noqa\b|pyright:\s*(?:ignore\S*|basic))`),
	}
}

func rustLanguage() *Language {
	re := regexp.MustCompile
	return &Language{
		Name: "rust", Files: re(`\.rs$`), TestFiles: re(`\.rs$`),
		LineComments: []string{"//"}, BlockComments: [][2]string{{"/*", "*/"}},
		Quotes: []quote{{`r#"`, `"#`, false, true}, {`"`, `"`, true, true}, {`'"'`, "", false, false}},
		Extent: Braces,
		Test:   re(`(?:^|[\n{};])[ \t]*#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub )?(?:async )?(?:unsafe )?fn (\w+)`),
		Heads:  re(`^\s*#\[[^{]*$`),
		Define: re(`(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:async )?(?:unsafe )?(?:const )?(?:fn|struct|enum|trait|mod|const|static|type|union) (\w+)|^\s+(?:pub(?:\([^)]*\))? )?(\w+): [\w&<\[(]|\bmacro_rules! (\w+)|^\s+([A-Z]\w+)(?:\(.*\)|\s*\{.*\})?(?:\s*=.*)?,\s*$`),
		Assertion: re(`\b(?:debug_)?(?:assert\w*|prop_assert\w*|panic|unreachable)!\s*[(\[{]|#\[should_panic|\.expect_err\(|\.unwrap_err\(|` +
			`\b(?:assert|check|expect|verify)_\w+\s*\(`),
		Weak:       re(`\.is_some\(\)|\.is_ok\(\)|!\w+\.is_empty\(\)`),
		Empty:      re(`assert!\(\s*true\b`),
		Message:    never(),
		Skip:       re(`#\[ignore\b|#\[cfg_attr\([^\]]*\bignore\b|#\[cfg\((?:any\(\)|FALSE|not\(test\)|feature\s*=)`),
		SoftSkip:   re(`#\[cfg_attr\(`),
		Focus:      never(),
		FileSkip:   re(`(?m)^\s*#!?\[cfg\((?:any\(\)|not\(test\)|test, ?not|all\(test, ?(?:not|feature|any\(\)))[^\]]*\]`),
		Hooks:      never(),
		Platform:   re(`target_os|target_arch|\bwindows\b|\bunix\b|\bmiri\b`),
		DeadBranch: re(`\bif (?:false|true) *\{|\blet _ = std::panic::catch_unwind`),
		Try:        never(), Catch: never(), CatchAll: never(),
		Compares: re(`^(?:[A-Z]\w*|vec|format|matches|contains|starts_with|ends_with|from|to_string|to_owned|into|abs)$`),
		Suppress: re(`#!?\[(?:cfg_attr\([^\]]*,\s*)?(?:allow|expect)\([^\]]*\)\]|#!?\[coverage\(off\)\]`),
	}
}

func shellLanguage() *Language {
	re := regexp.MustCompile
	return &Language{
		Name: "shell", Files: re(`\.(?:sh|bash|bats|zsh)$`), TestFiles: re(`\.bats$|(?:^|/)(?:tests?|spec)/.*\.(?:sh|bash|zsh)$|(?:^|/)(?:test[-_][^/]*|[^/]*[-_]test|tests?)\.(?:sh|bash|zsh)$`),
		LineComments: []string{"#"}, HashNeedsSpace: true, Wordy: true,
		Quotes: []quote{{`"`, `"`, true, true}, {"'", "'", false, true}},
		Extent: Braces,
		Test:   re(`(?m)^[ \t]*@test\s()|^[ \t]*(?:function )?(test\w*|it_\w+)\s*\(\)`),
		Heads:  never(),
		Define: re(`(?m)^\s*(\w[\w-]*)\s*\(\)|^\s*function (\w[\w-]*)`),
		Assertion: re(`\bassert\w*|\brefute\w*|\bfail\b|\bexit [1-9]|\breturn [1-9]|(?m:^\s*(?:!\s*)?\[\[? )|(?m:^\s*(?:!\s*)?(?:test|diff|cmp|grep) )|\|\s*grep\b|` +
			`\bequals?_\w+|\bexpect_\w+|\bcheck_\w+`),
		Weak:       re(`\bassert_success\b|\[\[? -n `),
		Empty:      re(`\[\[? (?:1|true|"?x"?) *==? *(?:1|true|"?x"?) \]|\bassert true\b|\|\|\s*(?:true|:)(?:\s|$)`),
		Message:    re(`\becho\b|\bprintf\b|\bfail\b`),
		Skip:       re(`(?m)^\s*skip\b|[;&|{]\s*skip\b|\bstartSkipping\b|^\s*exit 0\b`),
		SoftSkip:   never(),
		Focus:      re(`(?m)^# bats test_tags=bats:focus`),
		FileSkip:   re(`(?m)^exit 0\b|^\s*set \+e\b`),
		Hooks:      never(),
		Platform:   re(`uname|OSTYPE|darwin|Darwin`),
		DeadBranch: re(`\bif (?:false|true|:)\s*(?:;|$)`),
		Try:        never(), Catch: never(), CatchAll: never(), Compares: never(),
		Suppress: re(`#\s*shellcheck\s+disable=\S+`),
	}
}

func javaLanguage() *Language {
	re := regexp.MustCompile
	return &Language{
		Name: "java", Files: re(`\.(?:java|kt)$`), TestFiles: re(`(?:^|/)(?:src/)?(?:test|androidTest)/.*\.(?:java|kt)$|Tests?\.(?:java|kt)$|IT\.java$`),
		LineComments: []string{"//"}, BlockComments: [][2]string{{"/*", "*/"}},
		Quotes: []quote{{`"""`, `"""`, true, true}, {`"`, `"`, true, false}, {"'", "'", true, false}},
		Extent: Braces, Package: true,
		Test:       re(`@(?:Test|ParameterizedTest|RepeatedTest|Property)\b(?:\([^)]*\))?(?:\s*@\w+(?:\([^)]*\))?)*\s*(?:[\w<>\[\]]+\s+)*(?:fun\s+)?(\w+|\x60[^\x60]+\x60)\s*\(`),
		Heads:      re(`^\s*@`),
		Define:     re(`(?m)\b(?:class|interface|enum|record|object)\s+(\w+)|^\s*(?:(?:public|private|protected|static|final|abstract|synchronized|override|suspend)\s+)*(?:fun|[\w<>\[\],.]+)\s+(\w+)\s*\([^)]*\)\s*(?:throws [\w, ]+)?(?::\s*\S+\s*)?[{=]|^\s+(?:private|public|protected)\s+(?:final\s+)?[\w<>\[\]]+\s+(\w+)\s*[;=]|^\s+([A-Z][A-Z0-9_]+)(?:\(.*\))?[,;]`),
		Assertion:  re(`\b(?:assert\w*|verify\w*|fail|expectThrows|assertThat)\s*\(|\.should\w*`),
		Weak:       re(`\bassertNotNull\s*\(|\.isNotNull\(|assertDoesNotThrow`),
		Empty:      re(`assertTrue\(true\)`),
		Message:    never(),
		Skip:       re(`@(?:Disabled|Ignore)\w*\b|\bassume\w*\s*\(|\bAssumptions\.|@(?:EnabledIf|EnabledOn)\w*|\benabled\s*=\s*false`),
		SoftSkip:   re(`@(?:DisabledOn|DisabledIf|EnabledIf|EnabledOn)\w*|\bassume\w*\s*\(`),
		Focus:      never(),
		FileSkip:   never(),
		Hooks:      never(),
		Platform:   re(`OS\.|os\.name|JRE\.`),
		DeadBranch: re(`\bif\s*\((?:false|true)\)|\bcatch\s*\(AssertionError`),
		Try:        re(`\btry\s*\{`), Catch: re(`^\s*catch\s*\([^)]*\)\s*\{`), CatchAll: re(`\b(?:Throwable|Error|Assertion\w*)\b`),
		Compares: re(`^(?:[A-Z]\w*|is[A-Z]\w*|\w*[eE]quals?\w*|has[A-Z]\w*|contains\w*|of|asList|valueOf|listOf|setOf|mapOf)$`),
		Suppress: re(`@Suppress(?:Warnings|FBWarnings|Lint)?\([^)]*\)|//\s*(?:NOSONAR\b|noinspection \S+|CHECKSTYLE:OFF)`),
	}
}
