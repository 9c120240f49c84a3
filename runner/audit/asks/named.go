package asks

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// phrases are patterns for what a task says about single tests and thresholds.
var phrases = sync.OnceValue(func() (p struct {
	along, it, name, proof, flaky, end, level, hold, pass,
	outOfDate, value, aside, verify, mend *regexp.Regexp
}) {
	re := regexp.MustCompile
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
	p.value = re(`"[^"\n]+"|'[^'\n]+'|\b\d[\d.]*\b`)
	p.pass = re(`(?i)\b(?:fix|make|get|turn|repair)\b`)
	p.verify = re(`(?i)^(?:please )?(?:(?:verify|check|double-check|confirm|review|re-?run|run|inspect)\b|` +
		`(?:make sure|ensure)\b.{0,60}\b(?:tests?|build|lint|suite|checks?|ci|everything)\b.{0,30}\b(?:pass|green|works?|clean|runs?)\b)`)
	p.mend = re(`(?i)\b(?:fix|add|writ|implement|updat|creat|mend|repair|correct|document|handl|reject|refactor|remov)`)
	return p
})

// parts are the clauses of a task. "a.js and its tests" stays together.
func parts(task string) []string {
	task = strings.NewReplacer(" incl. ", " and ", " including ", " and ", " along with ", " and ",
		" together with ", " and ").Replace(task)
	task = phrases().aside.ReplaceAllStringFunc(task, func(words string) string {
		if strings.Contains(strings.ToLower(words), "test") {
			return words
		}
		return "" // "remove render() (deprecated since 3.2) and its tests"
	})
	return clauses(phrases().along.ReplaceAllString(task, "+ $1"))
}

// Unwanted returns the names of tests that a task asks to remove or skip: "'writes rows' is flaky; skip it". It leaves
// out a test that always fails or shows what is wrong: in "TestSum shows the bug; remove it", "it" is the bug.
func Unwanted(task string) (names []string) {
	p, last := words(), ""
	var before []string // clauses
	for _, sentence := range phrases().end.Split(task, -1) {
		for _, clause := range parts(sentence) {
			about := clause
			if p.them.MatchString(clause) || phrases().it.MatchString(clause) {
				for k, named := len(before)-1, false; k >= 0 && !named; k-- {
					about, named = before[k]+" "+about, phrases().name.MatchString(before[k])
				}
			}
			fails := p.red.MatchString(about) && !phrases().flaky.MatchString(last+" "+sentence)
			if p.fewer.MatchString(clause) && !fails && !phrases().proof.MatchString(about) {
				for _, name := range phrases().name.FindAllString(about, -1) {
					names = append(names, strings.Trim(name, "\"'`"))
				}
			}
			before = append(before, clause)
		}
		last = sentence
	}
	return names
}

// Tests counts the names that are those of tests: "TestA", "test_b".
func Tests(names []string) (n int) {
	for _, name := range names {
		if words().tests.MatchString(name) {
			n++
		}
	}
	return n
}

// IsNamed reports whether one of the names is that of a test or of the test that it belongs to:
// "a.test.js > TestA" is TestA, and so are "p.TestA/b" and "t.py::TestA[1]".
func IsNamed(test string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		before, after, ok := strings.Cut(test, name)
		return ok && (before == "" || strings.HasSuffix(before, "::") || strings.HasSuffix(before, " > ") ||
			strings.HasSuffix(before, ".")) &&
			(after == "" || after[0] == '/' || after[0] == '[')
	})
}

// AllNamed reports whether there are tests, and each is named.
func AllNamed(tests, names []string) bool {
	return len(tests) > 0 && !slices.ContainsFunc(tests, func(test string) bool { return !IsNamed(test, names) })
}

// ToHold reports whether a task wants a threshold to stay: "coverage must stay at 95%".
func ToHold(task string) bool {
	p := phrases()
	return slices.ContainsFunc(p.end.Split(task, -1), func(sentence string) bool {
		return p.level.MatchString(sentence) && p.hold.MatchString(sentence)
	})
}

// ToPass reports whether a task wants a check that fails to pass: "the lint step is red; make it green".
func ToPass(task string) bool {
	return phrases().pass.MatchString(task) && words().red.MatchString(task)
}

// ForValues reports whether a task names all that a changed test expects now, and not what it expected
// before: "greet with 'Welcome back'". One that names both may describe the bug.
func ForValues(before, after, task string) bool {
	was, is := values(before), values(after)
	fresh := 0
	for v := range is {
		if !was[v] {
			if fresh++; !named(task, v) {
				return false
			}
		}
	}
	for v := range was {
		if !is[v] && named(task, v) {
			return false
		}
	}
	return fresh > 0
}

// values are the quoted texts and long numbers of a test.
func values(text string) map[string]bool {
	all := map[string]bool{}
	for _, v := range phrases().value.FindAllString(text, -1) {
		all[strings.Trim(v, "\"'`")] = true
	}
	return all
}

func named(task, value string) bool {
	return strings.TrimSpace(value) != "" &&
		regexp.MustCompile(`(?:^|[^\w.])`+regexp.QuoteMeta(value)+`(?:$|\W)`).MatchString(task)
}
