package audit

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

// extent says where the body of a test ends.
type extent int

const (
	braces  extent = iota // the {} behind the match
	parens                // the () behind the match; a second () too: it.each(table)(...)
	offside               // the lines that are indented deeper
)

// language is one row: how to read a language, and what its tests look like.
// Patterns see masked code unless they say text.
type language struct {
	name          string
	files         *regexp.Regexp // whole path
	testFiles     *regexp.Regexp // whole path; tests elsewhere are not run
	lineComments  []string
	blockComments [][2]string
	quotes        []quote
	slashRegexps  bool
	// hashNeedsSpace: a # inside a word is no comment.
	hashNeedsSpace bool

	extent extent
	// test finds a test: group 1 is its name; empty or missing: the name is the
	// first string behind the match.
	test      *regexp.Regexp
	heads     *regexp.Regexp // lines above a test that belong to it: decorators
	define    *regexp.Regexp // group 1..n: the name of what a line defines
	assertion *regexp.Regexp // counts 2
	weak      *regexp.Regexp // of those, the ones that nearly anything passes: counts 1
	// empty finds the ones that cannot fail: counts nothing; with two groups
	// only when both say the same. text
	empty      *regexp.Regexp
	message    *regexp.Regexp // lines whose strings are for people: text
	skip       *regexp.Regexp // a test does not run
	softSkip   *regexp.Regexp // of those, the ones with a condition of their own
	focus      *regexp.Regexp // all other tests do not run
	fileSkip   *regexp.Regexp // text: a whole file does not run
	platform   *regexp.Regexp // text: an honest condition to skip by
	deadBranch *regexp.Regexp // what follows never runs
}

const (
	assertCall = `\b(?:assert|require|expect|check|must|verify|should)\w*`
)

// never is a pattern for columns that a row does not need.
func never() *regexp.Regexp { return regexp.MustCompile(`[^\s\S]`) }

var languages = sync.OnceValue(func() []*language {
	return []*language{goLanguage(), scriptLanguage(), pythonLanguage(), rustLanguage(), shellLanguage(), javaLanguage()}
})

func languageOf(path string) *language {
	for _, l := range languages() {
		if l.files.MatchString(path) {
			return l
		}
	}
	return nil
}

func goLanguage() *language {
	re := regexp.MustCompile
	return &language{
		name: "go", files: re(`\.go$`), testFiles: re(`(^|/)[^._/][^/]*_test\.go$`),
		lineComments: []string{"//"}, blockComments: [][2]string{{"/*", "*/"}},
		quotes: []quote{{`"`, `"`, true, false}, {"`", "`", false, true}, {"'", "'", true, false}},
		extent: braces,
		test:   re(`(?m)^func (?:\([^)]*\) )?((?:Test|Benchmark|Fuzz|Example)(?:[^a-z\s(]\w*)?)\s*\(`),
		heads:  never(),
		define: re(`(?m)^func (?:\([^)]*\) )?(\w+)|^(?:type|var|const) (\w+)|^\t(\w+)[ \t]+(?:\[\]|\*|map\[|\w)[\w.\[\]*]*[ \t]*(?:$|\x60)`),
		assertion: re(`\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|` + assertCall + `\.?\w*\(|\b(?:is|qt|c|g|a|r)\.(?:Equal|True|False|NoErr|Assert|Check|Expect|NotNil|Nil)\w*\(|` +
			`\bpanic\(|\.(?:Should|ShouldNot|To|NotTo|ToNot)\(`),
		weak:       re(`\.(?:NotNil|NotEmpty|NotZero|NotPanics|Implements|IsType|Len\w*OrMore)f?\(`),
		empty:      re(`\.(?:True|Equal)f?\(t, true(?:, true)?[,)]|\.(?:Equal)f?\(t, (\w+), (\w+)\)|\.NoErrorf?\(t, nil\)`),
		message:    re(`\.(?:Error|Errorf|Fatal|Fatalf|Log|Logf)\(`),
		skip:       re(`\b\w+\.(?:Skip|Skipf|SkipNow)\(`),
		softSkip:   never(),
		focus:      never(),
		fileSkip:   re(`(?m)^//go:build .+|^// \+build .+`),
		platform:   re(`runtime\.GO(?:OS|ARCH)|testing\.Short\(\)|\bgoos\b|go:build.*\b(?:linux|darwin|windows|unix|race|cgo|amd64|arm64)\b`),
		deadBranch: re(`\bif (?:false|true|0 ?== ?1|1 ?== ?0)\b`),
	}
}

func scriptLanguage() *language {
	re := regexp.MustCompile
	return &language{
		name: "js", files: re(`\.(?:[cm]?[jt]s|[jt]sx)$`),
		testFiles:    re(`\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|spec|e2e)/.*\.[cm]?[jt]sx?$|(?:^|/)test\.[cm]?[jt]sx?$`),
		lineComments: []string{"//"}, blockComments: [][2]string{{"/*", "*/"}},
		quotes:       []quote{{`"`, `"`, true, false}, {"'", "'", true, false}, {"`", "`", true, true}},
		slashRegexps: true, extent: parens,
		test:       re(`(?m)(?:^|[^.\w$])[xf]?(?:it|test|specify)(?:\.(?:skip|only|each|concurrent|failing|serial|fails|fixme|runIf|skipIf|todo))*\s*[(\x60]()`),
		heads:      never(),
		define:     re(`(?m)\b(?:function\*?|class|interface|type|enum)\s+(\w+)|^(?:export )?(?:const|let|var) (\w+)|^\s+(?:async |static |get |set )*(\w+)\s*\([^()]*\)\s*(?::[^{;]+)?\{|^\s+(\w+)\??:`),
		assertion:  re(`\b(?:expect|expectTypeOf|assert)\w*(?:\.\w+)*\s*\(|\bt\.(?:is|deepEqual|true|false|throws|like|not|regex|assert|equal|same|ok|strictEqual)\w*\s*\(|\.should\b|\bfail\s*\(`),
		weak:       re(`\.(?:toBeDefined|toBeTruthy|toBeFalsy|not\.toBeNull|not\.toBeUndefined|not\.toThrow|toBeInstanceOf|exist)\b|\bassert\.(?:ok|exists|isDefined|doesNotThrow)\s*\(`),
		empty:      re(`expect\((?:true|1|'[^']*'|"[^"]*")\)\.(?:toBe|toEqual|toBeTruthy|to\.be|to\.equal)\w*\(?|assert(?:\.ok|\.equal|\.strictEqual)?\(true(?:, true)?\)|\bexpect\.(?:any|anything|objectContaining|arrayContaining|stringContaining|stringMatching|assertions|hasAssertions|extend)\b`),
		message:    never(),
		skip:       re(`\bx(?:it|test|describe|context|specify)\s*[(.]|\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.(?:skip|failing|fails|fixme|skipIf|runIf)\b|\bthis\.skip\s*\(|\bctx\.skip\s*\(|\bt\.skip\s*\(|\bpending\s*\(|\bskip:\s*true`),
		softSkip:   re(`\.(?:skipIf|runIf)\b`),
		focus:      re(`\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.only\b|(?:^|[^.\w])(?:fit|fdescribe|ftest)\s*\(|\bonly:\s*true`),
		fileSkip:   re(`(?m)^\s*// @ts-nocheck`),
		platform:   re(`process\.platform|os\.platform\(|isWindows|isMac|win32|darwin`),
		deadBranch: re(`\bif\s*\((?:false|true|0|1)\)|\bcatch\s*(?:\(\w*\))?\s*\{\s*\}`),
	}
}

func pythonLanguage() *language {
	re := regexp.MustCompile
	return &language{
		name: "python", files: re(`\.py$`), testFiles: re(`(?:^|/)(?:test_[^/]*|[^/]*_test|tests?|conftest)\.py$|(?:^|/)tests?/.*\.py$`),
		lineComments: []string{"#"},
		quotes:       []quote{{`"""`, `"""`, true, true}, {"'''", "'''", true, true}, {`"`, `"`, true, false}, {"'", "'", true, false}},
		extent:       offside,
		test:         re(`(?m)^[ \t]*(?:async )?def (test\w*)\s*\(`),
		heads:        re(`^\s*@`),
		define:       re(`(?m)^\s*(?:async )?def (\w+)|^\s*class (\w+)|^(\w+)\s*(?::[^=\n]+)?=|^\s+self\.(\w+)\s*(?::[^=\n]+)?=|^\s+(\w+): `),
		assertion:    re(`(?m)^\s*assert\b|\bself\.assert\w+\s*\(|\bself\.fail\w*\s*\(|\bpytest\.(?:raises|fail|warns|approx)\s*\(|\.assert_\w+\s*\(|\b(?:assert|check|expect|verify)_\w+\s*\(|\braise AssertionError`),
		weak:         re(`assertIsNotNone|assertIsInstance|is not None\b|\bisinstance\(|assert_called\(`),
		empty:        re(`(?m)^\s*assert (?:True|1|not False|"[^"]*"|'[^']*')\s*(?:,|$)|assertTrue\(True|assertEqual\((\w+), (\w+)\)|\bpytest\.approx`),
		message:      never(),
		skip: re(`@(?:pytest\.mark|mark|unittest)\.(?:skip\w*|xfail|expectedFailure)|\bself\.skipTest\s*\(|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\braise (?:unittest\.)?SkipTest|` +
			`^pytestmark\s*=.*(?:skip|xfail)|\bpytest\.param\(.*marks|@skip\w*\b|\b__test__\s*=\s*False`),
		softSkip:   re(`@(?:pytest\.mark|mark|unittest)\.(?:skipif|skipIf|skipUnless)|@skip(?:if|If|Unless)|importorskip`),
		focus:      never(),
		fileSkip:   re(`(?m)^pytestmark\s*=.*\b(?:skip|skipif|xfail)\b|^pytest\.skip\(|^collect_ignore\w*\s*=|^\s+items\[:\] =|\b__test__\s*=\s*False`),
		platform:   re(`sys\.platform|platform\.system|os\.name|sys\.version_info|win32|darwin`),
		deadBranch: re(`\bif (?:False|True|0|1):|\bexcept\s+(?:\(?\s*AssertionError|Exception\s*(?:as \w+)?:\s*pass\b|BaseException)|\bexcept:\s*pass\b`),
	}
}

func rustLanguage() *language {
	re := regexp.MustCompile
	return &language{
		name: "rust", files: re(`\.rs$`), testFiles: re(`\.rs$`),
		lineComments: []string{"//"}, blockComments: [][2]string{{"/*", "*/"}},
		quotes: []quote{{`r#"`, `"#`, false, true}, {`"`, `"`, true, true}, {`'"'`, "", false, false}},
		extent: braces,
		test:   re(`(?m)^[ \t]*#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub )?(?:async )?(?:unsafe )?fn (\w+)`),
		heads:  re(`^\s*#\[`),
		define: re(`(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:async )?(?:unsafe )?(?:const )?(?:fn|struct|enum|trait|mod|const|static|type|union) (\w+)|^\s+(?:pub(?:\([^)]*\))? )?(\w+): [\w&<\[(]|\bmacro_rules! (\w+)`),
		assertion: re(`\b(?:debug_)?(?:assert\w*|prop_assert\w*|panic|unreachable)!\s*[(\[{]|#\[should_panic|\.expect_err\(|\.unwrap_err\(|` +
			`\b(?:assert|check|expect|verify)_\w+\s*\(|\.expect\(|\.unwrap\(\)`),
		weak:       re(`\.expect\(|\.unwrap\(\)|\.is_some\(\)|\.is_ok\(\)|!\w+\.is_empty\(\)`),
		empty:      re(`assert!\(\s*true\b|assert_eq!\(\s*(\w+)\s*,\s*(\w+)\s*\)`),
		message:    never(),
		skip:       re(`#\[ignore\b|#\[cfg_attr\([^\]]*\bignore\b|#\[cfg\((?:any\(\)|FALSE|not\(test\)|feature\s*=)`),
		softSkip:   re(`#\[cfg_attr\(`),
		focus:      never(),
		fileSkip:   re(`(?m)^\s*#!?\[cfg\((?:any\(\)|not\(test\)|test, ?not|all\(test, ?(?:not|feature|any\(\)))[^\]]*\]`),
		platform:   re(`target_os|target_arch|\bwindows\b|\bunix\b|\bmiri\b`),
		deadBranch: re(`\bif (?:false|true) *\{|\blet _ = std::panic::catch_unwind`),
	}
}

func shellLanguage() *language {
	re := regexp.MustCompile
	return &language{
		name: "shell", files: re(`\.(?:sh|bash|bats|zsh)$`), testFiles: re(`\.bats$|(?:^|/)(?:tests?|spec)/.*\.(?:sh|bash|zsh)$|(?:^|/)(?:test[-_][^/]*|[^/]*[-_]test|tests?)\.(?:sh|bash|zsh)$`),
		lineComments: []string{"#"}, hashNeedsSpace: true,
		quotes: []quote{{`"`, `"`, true, true}, {"'", "'", false, true}},
		extent: braces,
		test:   re(`(?m)^[ \t]*@test\s()|^[ \t]*(?:function )?(test\w*|it_\w+)\s*\(\)`),
		heads:  never(),
		define: re(`(?m)^\s*(\w[\w-]*)\s*\(\)|^\s*function (\w[\w-]*)`),
		assertion: re(`\bassert\w*|\brefute\w*|\bfail\b|\bexit [1-9]|\breturn [1-9]|(?m:^\s*(?:!\s*)?\[\[? )|(?m:^\s*(?:!\s*)?(?:test|diff|cmp|grep) )|\|\s*grep\b|` +
			`\bequals?_\w+|\bexpect_\w+|\bcheck_\w+`),
		weak:       re(`\bassert_success\b|\[\[? -n `),
		empty:      re(`\[\[? (?:1|true|"?x"?) *==? *(?:1|true|"?x"?) \]|\bassert true\b|\|\|\s*(?:true|:)(?:\s|$)`),
		message:    re(`\becho\b|\bprintf\b|\bfail\b`),
		skip:       re(`(?m)^\s*skip\b|[;&|{]\s*skip\b|\bstartSkipping\b|^\s*exit 0\b`),
		softSkip:   never(),
		focus:      re(`(?m)^# bats test_tags=bats:focus`),
		fileSkip:   re(`(?m)^exit 0\b|^\s*set \+e\b`),
		platform:   re(`uname|OSTYPE|darwin|Darwin`),
		deadBranch: re(`\bif (?:false|true|:)\s*(?:;|$)`),
	}
}

func javaLanguage() *language {
	re := regexp.MustCompile
	return &language{
		name: "java", files: re(`\.(?:java|kt)$`), testFiles: re(`(?:^|/)(?:src/)?(?:test|androidTest)/.*\.(?:java|kt)$|Tests?\.(?:java|kt)$|IT\.java$`),
		lineComments: []string{"//"}, blockComments: [][2]string{{"/*", "*/"}},
		quotes:     []quote{{`"""`, `"""`, true, true}, {`"`, `"`, true, false}, {"'", "'", true, false}},
		extent:     braces,
		test:       re(`@(?:Test|ParameterizedTest|RepeatedTest|Property)\b(?:\([^)]*\))?(?:\s*@\w+(?:\([^)]*\))?)*\s*(?:[\w<>\[\]]+\s+)*(?:fun\s+)?(\w+|\x60[^\x60]+\x60)\s*\(`),
		heads:      re(`^\s*@`),
		define:     re(`(?m)\b(?:class|interface|enum|record|object)\s+(\w+)|^\s*(?:(?:public|private|protected|static|final|abstract|synchronized|override|suspend)\s+)*(?:fun|[\w<>\[\],.]+)\s+(\w+)\s*\([^)]*\)\s*(?:throws [\w, ]+)?(?::\s*\S+\s*)?[{=]|^\s+(?:private|public|protected)\s+(?:final\s+)?[\w<>\[\]]+\s+(\w+)\s*[;=]`),
		assertion:  re(`\b(?:assert\w*|verify\w*|fail|expectThrows|assertThat)\s*\(|\.should\w*`),
		weak:       re(`\bassertNotNull\s*\(|\.isNotNull\(|assertDoesNotThrow`),
		empty:      re(`assertTrue\(true\)|assertEquals\((\w+), (\w+)\)`),
		message:    never(),
		skip:       re(`@(?:Disabled|Ignore)\w*\b|\bassume\w*\s*\(|\bAssumptions\.|@(?:EnabledIf|EnabledOn)\w*|\benabled\s*=\s*false`),
		softSkip:   re(`@(?:DisabledOn|DisabledIf|EnabledIf|EnabledOn)\w*|\bassume\w*\s*\(`),
		focus:      never(),
		fileSkip:   never(),
		platform:   re(`OS\.|os\.name|JRE\.`),
		deadBranch: re(`\bif\s*\((?:false|true)\)|\bcatch\s*\(AssertionError`),
	}
}
