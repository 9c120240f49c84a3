package audit

// What a task asks for is read here and nowhere else: text in, yes or no out. It decides what excuses a change that looks
// like less proof.

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// taskWords are patterns for clauses of a task.
var taskWords = sync.OnceValue(func() (p struct {
	path, code, clause, tests, them, fewer, list, change, data, add, bad, red, edit, plan, apart, lets, remove,
	skip, advises, same, other, lint, repairs, lenient, fewerRules, never *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.path = re(`[\w./-]*\w\.(?:[cm]?[jt]sx?|py|go|rs|sh|rb|java|kt)\b`)
	p.code = re(`\b[A-Z]\w*\.[a-z]\w*|\b[a-z]\w*\(`)
	p.clause = re(`[.!?;,:]\s| \(|\n|\b(?i:and|but|then|so that|while|until|if|when|without|keep\w*)\b`)
	p.tests = re(`(?i:\b(?:sub)?tests?\b|\btest_|_test\b|\.test\b|_spec\b|\.spec\b|\bspecs?\b)|\bTest[A-Z]|` +
		`[a-z]Tests?\b`)
	p.them = re(`(?i)\b(?:them|these|those|both)\b`)
	p.fewer = re(`(?i)\b(?:remov|delet|drop|merg|mov(?:e|ing)\b|consolidat|dedup|combin|collaps|turn\b|` +
		`turning|convert|rewrit|replac|fold(?:s|ed|ing)?\b|join|unif|prun|trim|reduc|clean|retir|skip|disabl|` +
		`quarantin|simplif|restructur|reorgani[sz]|parametri[sz]|get rid|table-driven|exclud|deselect|xfail|` +
		`opt[ -]?in\b|(?:mark|tag|annotat)\w* .*\b(?:ignor|flaky|expected failure)|leav\w* .{1,40}\bout\b|` +
		`(?:put|hid|gat|guard|mov)\w* .*\bbehind\b)`)
	// As in "Remove the v1 API: handler, route and its tests".
	p.list = re(`(?im)^\W*(?:remov|delet|drop|retir)\w*\b[^:\n]*: [^.;:\n]*\btests?(?: (?:case|file)s?)?\s*(?:[.;,)]|$)`)
	p.apart = re(`(?i)\b(?:(?:py|unit)?test|jest|vitest|mocha|go test|cargo|runner)\b.{0,20}\b(?:collect|discover|` +
		`pick)(?:s|ed|ion)?\b|\b(?:mark|tag)\w* (?:the |all |our )?(?:\w+ ){0,2}tests?\b|\bslow tests?\b|` +
		`\bbuild tags?\b|\btest\w*\b.*\brun\w* (?:it|them|this|that|these|those|(?:\w+ )?tests?) only (?:when|if|with|on|in|where|under)\b`)
	p.remove = re(`(?i)\b(?:remov|delet|drop|retir|mov(?:e|ing)|merg|` +
		`reorgani[sz]|consolidat|prun|deprecat|revert|obsolet|restructur)\w*`)
	p.skip = re(`(?i)\b(?:skip|xfail|disabl|flaky|quarantin|ignor|pending|failing|` +
		`platform|windows|macos|linux|node(?:\.js)? \d)\w*`)
	p.advises = re(`(?i)\b(?:must|may|should|shall|does|do|can|will)(?: not|n't|not) (?:\w+ )?(?:fail|break|block|` +
		`stop)\b|\b(?:jobs?|steps?|checks?|lint\w*|builds?) (?:may|can|is allowed to) fail\b|` +
		`\bnon-?blocking\b|\badvisory\b|\bwarn\w* only\b|\binformational\b|\bwithout (?:failing|breaking|blocking)\b`)
	p.lets = re(`(?i)\b(?:let|make|have) (?:the |its |their |all )?(?:\w+ )?\x60?\w*tests?\w*\x60? (?:use|call|expect|read|` +
		`take|check|go|assert)\b|\btests?\w*\x60? (?:should|must|shall|needs? to|ha(?:s|ve) to) (?:expect|assert|compare)\b`)
	p.lint = re(`(?i)lint|\b(?:ruff|flake8|mypy|clippy|rules?|warnings?|style)\b`)
	p.repairs = re(`(?i)\b(?:fix|repair|resolv|correct|clean|address|solv|split|shorten|eliminat)\w*\b[^;\n]{0,60}\b(?:findings?|violations?|` +
		`warnings?|complain\w*|offen[cs]es?|(?:\w*lint\w*|ruff|mypy|flake8|style) (?:errors?|issues?|problems?))\b|` +
		`\bmake\b[^;\n]{0,30}lint\b[^;\n]{0,30}\b(?:pass|green|clean)\b`)
	p.lenient = re(`(?i)\b(?:rais|increas|relax|loosen|lift|drop|remov|disabl|turn\w* off|switch\w* off|allow|permit|exclud|except|ignor|skip|` +
		`silenc|suppress|exempt|leav|stay|may\b)\w*|\blimit\w* (?:\w+ )?\d`)
	p.fewerRules = re(`(?i)\bno (?:\w+ )?rules?\b`)
	p.never = re(`(?i)(?:\b(?:no|not|never|without)|n't)\b[^,;.()\n]*`)
	p.change = re(`(?i)\b(?:fix(?:e[sd]|ing)?\b|correct|mend|repair|restor|adjust|adapt|updat|chang|regenerat|` +
		`refresh|relax|loosen|record|mock|bring|refactor|split|port|translat|renam)`)
	p.data = re(`(?i)\b(?:goldens?|snapshots?|expect(?:ed|ations?)|fixtures?|conftest|test ?data|` +
		`test (?:setup|runner|config\w*|environment|helpers?)|setup file|jsdom|` +
		`(?:fix|correct|mend|repair|restore|refresh|update) (?:the |its )?(?:sample |example )?data(?: files?)?\s*$)\b`)
	p.add = re(`(?i)\b(?:add|creat|writ|provid|us|cover)(?:e|es|s|ed|ing)?\b`)
	p.bad = re(`(?i)\b(?:out ?dated|wrong|incorrect|stale|obsolete|flaky|brittle|too strict|mistake|` +
		`still (?:has|have|expects?|checks?|says?|asserts?|uses?|wants?|assumes?)\b)`)
	p.red = re(`(?i)\b(?:fail|broken?\b|red\b|green\b|pass(?:es)?\b)`)
	p.same = re(`(?i)^\W*refactor\w*|\bwithout (?:any )?chang\w* (?:(?:in|of|to|the|its|any) )*(?:behaviou?r|output|results?)\b`)
	p.other = re(`(?i)\b(?:fix|correct|chang|add|new\b|instead|also\b|support|renam|replac|convert|translat|format|print|return|` +
		`now\b|no longer|adapt|updat|so that|must|should)`)
	p.edit = re(`(?i)\b(?:review|updat|chang|edit|revis|rework|rewrit|split|reorder|reorgani[sz]|restructur|` +
		`reprioriti[sz]|prioriti[sz]|clean|prun|trim|groom|refin|plan\b|replan|break|merg|mov(?:e|ing)|drop|remov|` +
		`delet|defer|postpon|add)\w*`)
	p.plan = re(`(?i)\b(?:the|this|our|fix_?|re)[ -]?plan\b|\bplan(?: file|\.md)|\b(?:task|to-?do) list\b|` +
		`\bbacklog\b|\broadmap\b|\bprd(?:\.json)?\b|` +
		`\b(?:other|remaining|open|later|next|these|following) (?:tasks|stories|boxes|items)\b|` +
		`\btasks?\b.*\b(?:smaller|sub-?tasks?|optional)\b|\bin(?:to)? (?:smaller |several |sub-?)tasks\b`)
	return p
})

// clausesOf are the parts of a task, without names of code that look like verbs: "Cart.remove".
func clausesOf(task string) []string {
	p := taskWords()
	return p.clause.Split(p.code.ReplaceAllStringFunc(task, func(name string) string {
		if p.tests.MatchString(name) {
			return name
		}
		return "_"
	}), -1)
}

// withoutPaths is a clause without names of files, which may look like verbs: "convert.test.js".
func withoutPaths(clause string) string { return taskWords().path.ReplaceAllString(clause, "_") }

// asksForFewerTests reports whether a task asks for fewer tests: "delete the test of Sub", "merge the
// duplicates in test_a.py", "turn the tests into a table", "remove a.js and its tests".
func asksForFewerTests(task string) bool {
	p, before := taskWords(), ""
	for _, clause := range testClauses(task) {
		about := clause
		if p.them.MatchString(clause) { // "test_a.py has duplicates; merge them"
			about = before + " " + clause
		}
		if p.fewer.MatchString(withoutPaths(clause)) && p.tests.MatchString(about) {
			return true
		}
		before = clause
	}
	return p.apart.MatchString(task) || p.list.MatchString(task)
}

// asksForRemoval reports whether a task wants something removed or moved.
func asksForRemoval(task string) bool { return taskWords().remove.MatchString(withoutPaths(task)) }

// AsksForLess reports whether a task wants something to go, or fewer tests to run.
func AsksForLess(task string) bool {
	return asksForRemoval(task) || asksForFewerTests(task) || asksForSkips(task)
}

// AsksForSameBehavior reports whether a task promises to change no behavior, and asks for nothing else that might.
func AsksForSameBehavior(task string) bool {
	rest := taskWords().same.ReplaceAllString(task, "")
	return rest != task && !taskWords().other.MatchString(withoutPaths(rest))
}

// asksForSkips reports whether a task may want tests to be skipped.
func asksForSkips(task string) bool {
	return taskWords().skip.MatchString(task) || asksForTestsApart(task)
}

// asksForTestsApart reports whether a task wants some tests to run only sometimes: "put the slow tests behind a
// build tag", "pytest collects tools/test_data.py; leave it out".
func asksForTestsApart(task string) bool { return taskWords().apart.MatchString(task) }

// asksForOtherTests reports whether a task is about what tests say: "the test of X is wrong", "update
// the golden files". One that names a failing test asks for the code: "fix X, for TestX fails".
func asksForOtherTests(task string) bool {
	p, before := taskWords(), ""
	return slices.ContainsFunc(clausesOf(task), func(clause string) bool {
		// As in "and forgot the golden file, please refresh it".
		if taskPhrases().it.MatchString(clause) && taskPhrases().outOfDate.MatchString(before) {
			clause = before + " " + clause
		}
		earlier := before
		before = clause
		tests := func(text string) bool { return p.tests.MatchString(text) || p.data.MatchString(text) }
		// As in "the test expects 50, which is wrong" and "the test has the old total: update it". But in "TestSum shows
		// that the total is wrong; fix it" the code is.
		if tests(earlier) && taskPhrases().back.MatchString(clause) && !p.red.MatchString(earlier) &&
			!taskPhrases().proof.MatchString(earlier) && (p.bad.MatchString(clause) || taskPhrases().adapt.MatchString(clause)) {
			return true
		}
		switch {
		case p.bad.MatchString(clause) && tests(clause) && !taskPhrases().proof.MatchString(clause), p.lets.MatchString(clause):
			return true
		case p.red.MatchString(clause):
			return false
		}
		return tests(clause) && (p.change.MatchString(withoutPaths(clause)) || p.fewer.MatchString(withoutPaths(clause))) ||
			p.add.MatchString(clause) && p.data.MatchString(clause) || taskPhrases().file.MatchString(clause)
	})
}

// AsksForNoChange reports whether a task is done without a change if all is well: "verify that all tests pass".
func AsksForNoChange(task string) bool {
	p := taskPhrases()
	text := p.unless.ReplaceAllString(strings.TrimSpace(task), "")
	if !p.verify.MatchString(text) {
		return false
	}
	if p.whether.MatchString(text) { // what follows may be any verb: "check that no file handle stays open"
		return !slices.ContainsFunc(p.then.Split(text, -1)[1:], p.mends.MatchString)
	}
	return !p.mend.MatchString(text)
}

// AsksForTests reports whether a task asks for new tests: "mode(values), with tests", "add a test for Sort".
func AsksForTests(task string) bool {
	p := taskPhrases()
	return slices.ContainsFunc(p.end.Split(p.code.ReplaceAllString(task, "_"), -1), func(sentence string) bool {
		return p.wanted.MatchString(sentence) && !p.unwanted.MatchString(sentence)
	})
}

// AsksForFailingTests reports whether a task asks for tests whose code is to come: "write failing tests for parse()", "tests
// for the rules (they may fail for now)".
func AsksForFailingTests(task string) bool { return taskPhrases().failFirst.MatchString(task) }

// Describes reports whether a task says what code does, and asks for no change: "parse(text) returns three numbers".
func Describes(task string) bool {
	p := taskPhrases()
	return len(NamesOf(task)) > 0 && !p.mend.MatchString(task) && !p.other.MatchString(task)
}

// AsksForPlan reports whether a task asks for changes of the plan.
func AsksForPlan(task string) bool {
	p := taskWords()
	return slices.ContainsFunc(clausesOf(task), func(clause string) bool {
		return p.edit.MatchString(clause) && p.plan.MatchString(clause)
	})
}

// taskPhrases are patterns for what a task says about single tests and thresholds.
var taskPhrases = sync.OnceValue(func() (p struct {
	along, it, name, proof, flaky, end, level, hold, pass,
	outOfDate, aside, verify, whether, then, mend, mends, other, unless, back, adapt, file, code, wanted, unwanted, failFirst *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.code = re("`[^`\n]*`")
	p.wanted = re(`(?i)\b(?:with|plus|including|incl\.?|by|needs?|add(?:s|ing)?|writ(?:e|es|ing)|creat(?:e|es|ing)) ` +
		`(?:(?:an?|some|new|more|few|own|unit|integration|regression|end-to-end|e2e|small|simple|good|failing|automated) )*` +
		`tests?(?: cases?)?(?:\s*(?:$|[.,;:)]+(?:\s|$))|\s+(?:for|of|that|which|covering|and|per)\b)`)
	p.failFirst = re(`(?i)\b(?:writ|add|creat)(?:e|es|ing|s)? (?:the |some |a |new )?(?:failing|red) (?:unit |integration )?tests?\b|` +
		`\btests?\b(?:[^.!?\n]|\.\w){0,80}\b(?:may|should|must|will|can|might|to) (?:still |all |first )*(?:fail|be red)` +
		`(?:\s*(?:$|[.,;:)\n])|\s+(?:for now|at first|first|until|till|before|now|then|because|since|as)\b)`)
	p.unwanted = re(`(?i)\b(?:no|not|never|nor|without|instead|unless|exist\w*|already|(?:remov|delet|drop|skip|disabl|renam|mov|merg|` +
		`split|convert|revert)(?:e|es|ed|ing|s)?|(?:work|run|pass|break|fail|deal|conflict|interfer|clash|compat)\w*(?: \w+)? with)\b|n't\b`)
	p.along = re(`(?i)\band ((?:its|their|the|all|any|both|corresponding)(?: [\w./-]+){0,2}? (?:tests?|specs?)` +
		`(?:$|[.;,:\n]| (?:for|of|in|from|with|and)\b)|["'\x60])`)
	p.aside = re(`\s\([^()\n]*\)`)
	p.it = re(`(?i)\bit\b`)
	p.name = re(`"[^"]+"|'[^']+'|\x60[^\x60]+\x60|\b\w*[a-z0-9]_\w+|\b\w+[a-z][A-Z]\w*`)
	p.proof = re(`(?i)\b(?:show|prov|reproduc|demonstrat|expos|reveal|catch|bugs?(?:[^\w-]|$))`) // not BUG-12
	p.flaky = re(`(?i)\bflak|\bnow and then\b|\bsometimes\b|\boccasional|\bintermittent|\bfrom time to time\b|` +
		`\b(?:busy|slow|loaded) (?:machine|runner|host)s?\b`)
	p.end = re(`[.!?;]\s|\n`)
	p.level = re(`(?i)\bcoverage\b|\bthresholds?\b|\bfail_under\b`)
	p.hold = re(`(?i)\b(?:stay|remain|keep|maintain|preserv|hold|at least|no less|above|must not|` +
		`not (?:drop|fall|sink)|without (?:lower|chang|reduc))|≥|>=`)
	p.outOfDate = re(`(?i)\b(?:forg[eo]t\w*|missed|overlooked|out of date|no longer matche?s?|not updated)\b`)
	p.back = re(`(?i)^\s*(?:which|that|this|these|they|it)\b|\b(?:it|them|this|these|those)\b`)
	p.adapt = re(`(?i)\b(?:correct|adjust|adapt|updat|chang|refresh|relax|loosen|replac|rewrit|renam)`)
	p.file = re(`(?i)\b(?:fix|mend|repair|update|adapt|correct|change|port) (?:the )?(?:script |runner |file )?` +
		`[\w./-]*\btests?/[\w./-]+`)
	p.pass = re(`(?i)\b(?:fix|make|get|turn|repair)\b`)
	p.verify = re(`(?i)^(?:please )?(?:(?:verify|check|double-check|confirm|review|re-?run|run|inspect|investigate|analy[sz]e|find out|look into)\b|` +
		`(?:make sure|ensure)\b.{0,60}\b(?:tests?|build|lint|suite|checks?|ci|everything)\b.{0,30}\b(?:pass|green|works?|clean|runs?)\b)`)
	p.other = re(`(?i)\b(?:make|must|should|need|let|chang|renam|replac|mov|split|extend|improv|speed|optimi[sz]|support|use|allow|prevent|` +
		`avoid|stop|drop|delet|convert|port|migrat|upgrad|introduc|provid|show|print|faster|instead|also|now|no longer|new|bug|broken|wrong)`)
	p.unless = re(`(?i)\b(?:only )?(?:if|where|should) (?:not\b|[^,;.]{0,40}\b(?:fail|break|broke|red\b|wrong\b|missing\b|lack|differ))[^,;.]*[,;]?[^,;.]*|` +
		`\b(?:fix|mend|repair|correct)\w* (?:it|them|this|that|the|these|those|any\w*)(?: \w+)? (?:only )?(?:if|unless|where)\b[^,;.]*|` +
		`\b(?:fix|mend|repair|correct)\w* (?:what|whatever|anything that|everything that) [^,;.]*`)
	const mends = `(?:fix|add|writ|implement|updat|creat|mend|repair|correct|document|handl|reject|refactor|remov)`
	p.mend = re(`(?i)\b` + mends)
	p.mends = re(`(?i)^\W*(?:(?:please|also|then|to)\W+)*` + mends)
	p.whether = re(`(?i)^(?:please )?[\w-]+(?: out| into)? (?:that|whether|if|why|how)\b`)
	p.then = re(`(?i)[,;.:]\s|\n|\b(?:and|but|then|so)\b`)
	return p
})

// testClauses are the clauses of a task. "a.js and its tests" stays together.
func testClauses(task string) []string {
	task = strings.NewReplacer(" incl. ", " and ", " including ", " and ", " along with ", " and ",
		" together with ", " and ").Replace(task)
	task = taskPhrases().aside.ReplaceAllStringFunc(task, func(words string) string {
		if strings.Contains(strings.ToLower(words), "test") {
			return words
		}
		return "" // "remove render() (deprecated since 3.2) and its tests"
	})
	return clausesOf(taskPhrases().along.ReplaceAllString(task, "+ $1"))
}

// UnwantedTests returns the names of tests that a task asks to remove or skip: "'writes rows' is flaky; skip it". It leaves
// out a test that always fails or shows what is wrong: in "TestSum shows the bug; remove it", "it" is the bug.
func UnwantedTests(task string) (names []string) {
	p, last := taskWords(), ""
	var before []string // clauses
	for _, sentence := range taskPhrases().end.Split(task, -1) {
		for _, clause := range testClauses(sentence) {
			about := clause
			if p.them.MatchString(clause) || taskPhrases().it.MatchString(clause) {
				for k, named := len(before)-1, false; k >= 0 && !named; k-- {
					about, named = before[k]+" "+about, taskPhrases().name.MatchString(before[k])
				}
			}
			fails := p.red.MatchString(about) && !taskPhrases().flaky.MatchString(last+" "+sentence)
			if p.fewer.MatchString(clause) && !fails && !taskPhrases().proof.MatchString(about) {
				for _, name := range taskPhrases().name.FindAllString(about, -1) {
					names = append(names, strings.Trim(name, "\"'`"))
				}
			}
			before = append(before, clause)
		}
		last = sentence
	}
	return names
}

// countTests counts the names that are those of tests: "TestA", "test_b".
func countTests(names []string) (n int) {
	for _, name := range names {
		if taskWords().tests.MatchString(name) {
			n++
		}
	}
	return n
}

// isNamed reports whether one of the names is that of a test or of the test that it belongs to:
// "a.test.js > TestA" is TestA, and so are "p.TestA/b" and "t.py::TestA[1]".
func isNamed(test string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		before, after, ok := strings.Cut(test, name)
		return ok && (before == "" || strings.HasSuffix(before, "::") || strings.HasSuffix(before, " > ") ||
			strings.HasSuffix(before, ".")) &&
			(after == "" || after[0] == '/' || after[0] == '[')
	})
}

// AllNamed reports whether there are tests, and each is named.
func AllNamed(tests, names []string) bool {
	return len(tests) > 0 && !slices.ContainsFunc(tests, func(test string) bool { return !isNamed(test, names) })
}

// AsksForOtherRules reports whether a task wants a linter to ask for less: "line limit 100 (was 72) in lint.conf".
func AsksForOtherRules(task string) bool {
	p := taskWords()
	return p.lint.MatchString(task) && (p.fewerRules.MatchString(task) || p.lenient.MatchString(p.never.ReplaceAllString(task, "")))
}

// asksToHold reports whether a task wants a threshold to stay, or the code to satisfy a linter: "coverage must stay at
// 95%", "fix all findings of ruff".
func asksToHold(task string) bool {
	p := taskPhrases()
	return taskWords().repairs.MatchString(task) && !AsksForOtherRules(task) || slices.ContainsFunc(p.end.Split(task, -1), func(sentence string) bool {
		return p.level.MatchString(sentence) && p.hold.MatchString(sentence)
	})
}

// asksToPass reports whether a task wants a check that fails to pass: "the lint step is red; make it green".
func asksToPass(task string) bool {
	return taskPhrases().pass.MatchString(task) && taskWords().red.MatchString(task)
}
