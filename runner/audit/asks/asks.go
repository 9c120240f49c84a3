// Package asks reads what a task asks for: text in, yes or no out. It decides what excuses a change that
// looks like less proof.
package asks

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// words are patterns for clauses of a task.
var words = sync.OnceValue(func() (p struct {
	path, fresh, code, clause, tests, them, fewer, change, data, add, bad, red, off, keeps, exact, adds,
	alters, edit, plan, apart, lets, remove, skip, out, advises, merge, twice *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.path = re(`[\w./-]*\w\.(?:[cm]?[jt]sx?|py|go|rs|sh|rb|java|kt)\b`)
	p.fresh = re(`(?i)\b(?:add|creat|writ|implement|provid)(?:e|es|s|` +
		`ed|ing)?(?: (?:an?|the|new|file|module|script|command))* \x60?(` + p.path.String() + `)`)
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
	p.apart = re(`(?i)\b(?:(?:py|unit)?test|jest|vitest|mocha|go test|cargo|runner)\b.{0,20}\b(?:collect|discover|` +
		`pick)(?:s|ed|ion)?\b|\b(?:mark|tag)\w* (?:the |all |our )?(?:\w+ ){0,2}tests?\b|\bslow tests?\b|` +
		`\bbuild tags?\b`)
	p.remove = re(`(?i)\b(?:remov|delet|drop|retir|mov(?:e|ing)|merg|` +
		`reorgani[sz]|consolidat|prun|deprecat|revert|obsolet|restructur)\w*`)
	p.skip = re(`(?i)\b(?:skip|xfail|disabl|flaky|quarantin|ignor|pending|failing|` +
		`platform|windows|macos|linux|node(?:\.js)? \d)\w*`)
	p.out = re(`(?i)\b(?:ignor|exclud|exempt|skip|leav\w* .{1,40}\bout)`)
	p.advises = re(`(?i)\b(?:must|may|should|shall|does|do|can|will)(?: not|n't|not) (?:\w+ )?(?:fail|break|block|` +
		`stop)\b|\b(?:jobs?|steps?|checks?|lint\w*|builds?) (?:may|can|is allowed to) fail\b|` +
		`\bnon-?blocking\b|\badvisory\b|\bwarn\w* only\b|\binformational\b|\bwithout (?:failing|breaking|blocking)\b`)
	p.lets = re(`(?i)\b(?:let|make|have) (?:the |its |their |all )?(?:\w+ )?tests? (?:use|call|expect|read|take|` +
		`check|go)\b`)
	p.change = re(`(?i)\b(?:fix(?:e[sd]|ing)?\b|correct|mend|repair|restor|adjust|adapt|updat|chang|regenerat|` +
		`refresh|relax|loosen|record|mock|bring|refactor|split|port|translat|renam)`)
	p.data = re(`(?i)\b(?:goldens?|snapshots?|expect(?:ed|ations?)|fixtures?|conftest|test ?data|` +
		`test (?:setup|runner|config\w*|environment|helpers?)|setup file|jsdom|` +
		`(?:fix|correct|mend|repair|restore|refresh|update) (?:the |its )?(?:sample |example )?data(?: files?)?\s*$)\b`)
	p.add = re(`(?i)\b(?:add|creat|writ|provid|us|cover)(?:e|es|s|ed|ing)?\b`)
	p.bad = re(`(?i)\b(?:out ?dated|wrong|incorrect|stale|obsolete|flaky|brittle|too strict|mistake|` +
		`still (?:has|have|expects?|checks?|says?|asserts?|uses?|wants?|assumes?)\b)`)
	p.red = re(`(?i)\b(?:fail|broken?\b|red\b|green\b|pass(?:es)?\b)`)
	p.adds = re(`^(?:[\w./() -]{1,40}: )?(?i:add|implement|introduce|provide|create) (?:an? |` +
		`the )?(?:(?:new|optional|second|small|public) )?(?:(?:[\w-]+ )?(?i:option|flag|switch|parameter|argument|` +
		`function|method|helper|command|verb|subcommand|endpoint|class)\b|[\w.]*\w\(|\w+_\w+|[\w.]*[a-z][A-Z]\w*|` +
		`[A-Z]\w*\.\w+|\x60)`)
	p.off = re(`(?i)\b(?:by )?default(?: is|:)? (?:no(?:ne)?|off|disabled|unlimited|false)\b|` +
		`\b(?:off|none|disabled) by default\b`)
	p.alters = re(`(?i)\b(?:chang|instead|default|replac|renam|switch|convert|remov|delet|drop|every|exist|always|` +
		`also|reject|round|fix|correct|now\b|must|mak(?:e|ing)\b|us(?:e|es|ing) |mov(?:e|ing)\b|in(?:to|side)\b|` +
		`and (?:let|have|call|\w+ (?:it|them|this|that|its|the)\b)|rais(?:e|es)\b|throw)`)
	p.keeps = re(`(?i)\b(?:as|like|what (?:it|they) \w+) (?:today|they do today|it does today)\b|` +
		`\b(?:everything|anything|all|the rest|what)(?: else)?(?: stays?| remains?|,? unchanged)?(?: exactly|` +
		` just)? as (?:it is|they are|is|before)\b|` +
		`\b(?:stay|remain|keep)\w* (?:\w+ ){0,6}(?:the same|identical|unchanged)\b|` +
		`\b(?:output|behaviou?r|results?)(?: is| are)? unchanged\b|\brefactor|\bwithout (?:any )?(?:chang|alter)|` +
		`\bsame behaviou?r|\b(?:results?|output|behaviou?r) (?:(?:stay|remain|is|are)s? )?as before\b|` +
		`\bspeed(?:s|ing)? ?up\b|\b(?:fast|quick)er\b|\bsimplif|` +
		`\brewrit\w* .{1,60}\b(?:without|iterative|recursive|in terms of)\b|\boptimi[sz]|` +
		`\bclean(?:s|ing)? ?up\b|\btidy\b|` +
		`\b(?:output|behaviou?r|results?)\b[^.;:]{0,40} (?:stay|remain)s? as (?:it is|they are|before)\b|` +
		`\b(?:must|should|shall|still) (?:\w+ ){1,3}as before\b|\bmake it O\(`)
	p.exact = re(`(?i)\b(?:toleran|precision|accura|epsilon|approximat|relative error)`)
	p.edit = re(`(?i)\b(?:review|updat|chang|edit|revis|rework|rewrit|split|reorder|reorgani[sz]|restructur|` +
		`reprioriti[sz]|prioriti[sz]|clean|prun|trim|groom|refin|plan\b|replan|break|merg|mov(?:e|ing)|drop|remov|` +
		`delet|defer|postpon|add)\w*`)
	p.merge = re(`(?i)\b(?:merg|consolidat|combin|collaps|fold(?:s|ed|ing)?\b|join|unif|parametri[sz]|tables?\b|` +
		`table-driven)`)
	p.twice = re(`(?i)\b(?:duplicat|redundan|repeat|same thing|identical|delet|remov|drop|prun)`)
	p.plan = re(`(?i)\b(?:the|this|our|fix_?|re)[ -]?plan\b|\bplan(?: file|\.md)|\b(?:task|to-?do) list\b|` +
		`\bbacklog\b|\broadmap\b|\bprd(?:\.json)?\b|` +
		`\b(?:other|remaining|open|later|next|these|following) (?:tasks|stories|boxes|items)\b|` +
		`\btasks?\b.*\b(?:smaller|sub-?tasks?|optional)\b|\bin(?:to)? (?:smaller |several |sub-?)tasks\b`)
	return p
})

// clauses are the parts of a task, without names of code that look like verbs: "Cart.remove".
func clauses(task string) []string {
	p := words()
	return p.clause.Split(p.code.ReplaceAllStringFunc(task, func(name string) string {
		if p.tests.MatchString(name) {
			return name
		}
		return "_"
	}), -1)
}

// said is a clause without names of files, which may look like verbs: "convert.test.js".
func said(clause string) string { return words().path.ReplaceAllString(clause, "_") }

// Hidden returns the new rule of git's ignore file that hides a file of code which the task wants to be new, and that
// file.
func Hidden(name, before, after, task string) (rule, file string) {
	if path.Base(name) != ".gitignore" || ToLeaveOut(task) {
		return "", ""
	}
	old, rules := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, m := range words().fresh.FindAllStringSubmatch(task, -1) {
		file := path.Clean(m[1])
		local, below := strings.CutPrefix(file, strings.TrimSuffix(name, ".gitignore"))
		for _, rule := range slices.Backward(rules) { // the last one counts
			bare := strings.TrimPrefix(rule, "!")
			whole, _ := path.Match(strings.Trim(bare, "/"), local)
			if base, _ := path.Match(bare, path.Base(local)); !below || !whole && !base ||
				strings.Trim(bare, "/*") == "" {
				continue
			}
			if bare == rule && !slices.Contains(old, rule) {
				return rule, file
			}
			break
		}
	}
	return "", ""
}

// ForFewerTests reports whether a task asks for fewer tests: "delete the test of Sub", "merge the
// duplicates in test_a.py", "turn the tests into a table", "remove a.js and its tests".
func ForFewerTests(task string) bool {
	p, before := words(), ""
	for _, clause := range parts(task) {
		about := clause
		if p.them.MatchString(clause) { // "test_a.py has duplicates; merge them"
			about = before + " " + clause
		}
		if p.fewer.MatchString(said(clause)) && p.tests.MatchString(about) {
			return true
		}
		before = clause
	}
	return p.apart.MatchString(task)
}

// ForMerging reports whether a task wants tests to become fewer that check as much: a table, one test for three.
func ForMerging(task string) bool {
	return ForFewerTests(task) && words().merge.MatchString(task) && !words().twice.MatchString(task)
}

// ForRemoval reports whether a task wants something removed or moved.
func ForRemoval(task string) bool { return words().remove.MatchString(said(task)) }

// ForSkips reports whether a task may want tests to be skipped.
func ForSkips(task string) bool { return words().skip.MatchString(task) || ForTestsApart(task) }

// ForTestsApart reports whether a task wants some tests to run only sometimes: "put the slow tests behind a
// build tag", "pytest collects tools/test_data.py; leave it out".
func ForTestsApart(task string) bool { return words().apart.MatchString(task) }

// ForOtherTests reports whether a task is about what tests say: "the test of X is wrong", "update
// the golden files". One that names a failing test asks for the code: "fix X, for TestX fails".
func ForOtherTests(task string) bool {
	p, before := words(), ""
	return slices.ContainsFunc(clauses(task), func(clause string) bool {
		// As in "and forgot the golden file, please refresh it".
		if phrases().it.MatchString(clause) && phrases().outOfDate.MatchString(before) {
			clause = before + " " + clause
		}
		before = clause
		tests := p.tests.MatchString(clause) || p.data.MatchString(clause)
		switch {
		case p.bad.MatchString(clause) && tests, p.lets.MatchString(clause):
			return true
		case p.red.MatchString(clause):
			return false
		}
		return tests && (p.change.MatchString(said(clause)) || p.fewer.MatchString(said(clause))) ||
			p.add.MatchString(clause) && p.data.MatchString(clause)
	})
}

// ForTests reports whether a task asks for new tests.
func ForTests(task string) bool {
	p := words()
	return slices.ContainsFunc(clauses(task), func(clause string) bool {
		return p.add.MatchString(clause) && p.tests.MatchString(clause)
	})
}

// ForNoChange reports whether a task is done without a change if all is well: "verify that all tests pass".
func ForNoChange(task string) bool {
	p := phrases()
	return p.verify.MatchString(strings.TrimSpace(task)) && !p.mend.MatchString(task)
}

// ToLeaveOut reports whether a task wants a tool to leave files out.
func ToLeaveOut(task string) bool { return words().out.MatchString(task) }

// ToLetFail reports whether a task wants a check whose failure does not count.
func ToLetFail(task string) bool { return words().advises.MatchString(task) }

// ToKeepBehavior reports whether a task says that behavior must not change.
func ToKeepBehavior(task string) bool { return words().keeps.MatchString(task) }

// OnlyAdds reports whether a task wants a new function, option or command and nothing else, so that what there was
// works as before: "add an option { desc: true }".
func OnlyAdds(task string) bool {
	p := words()
	return p.adds.MatchString(task) && !p.alters.MatchString(p.off.ReplaceAllString(task, ""))
}

// ForTolerance reports whether a task is about how exact results must be.
func ForTolerance(task string) bool { return words().exact.MatchString(task) }

// ForPlan reports whether a task asks for changes of the plan.
func ForPlan(task string) bool {
	p := words()
	return slices.ContainsFunc(clauses(task), func(clause string) bool {
		return p.edit.MatchString(clause) && p.plan.MatchString(clause)
	})
}
