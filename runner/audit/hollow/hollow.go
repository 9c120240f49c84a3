// Package hollow finds tests that cannot fail, such as a test without an assertion.
package hollow

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// patterns match single trimmed lines, or the text of a whole test.
var patterns = sync.OnceValue(func() (p struct {
	replaced      []*regexp.Regexp
	checks        *regexp.Regexp
	constant      *regexp.Regexp
	swallows      *regexp.Regexp
	hides         *regexp.Regexp // assertions whose failures a handler drops
	catches       *regexp.Regexp // the same of Python
	tuple         *regexp.Regexp
	handles, asks *regexp.Regexp
}) {
	re := regexp.MustCompile
	p.replaced = []*regexp.Regexp{
		re(`(?:monkeypatch\.setattr|(?:mock\.|mocker\.)?patch\.object)\(\s*(\w+),\s*["'](\w+)["'],`),
		re(`(?:monkeypatch\.setattr|(?:mock\.|mocker\.)?patch)\(\s*["'](?:\w+\.)*(\w+)\.(\w+)["'],`),
		re(`\bmock\.method\(\s*(\w+),\s*["'](\w+)["'],`),
		re(`\bspyOn\(\s*(\w+),\s*["'](\w+)["']\)\.mock(?:Return|Impl|Resolved)`),
		re(`(?m)^\s*(\w+)\.(\w+) = (?:lambda\b|\([^)]*\) =>|\w+ =>|function\b)`),
	}
	p.checks = re(`(?i)assert|expect|should|\braises\b|fail|check|verif|ensure|\bmust|require|match|snapshot|compare|` +
		`warns|throw|reject|panic|unwrap|\bplan\(|\bt\.(?:Error|Fatal|is|equal|deepEqual|ok|same)|[(,] ?t[,)]|\?;|` +
		`\braise\b|exit|#\[should_panic|Output:|\btest[A-Z]\w*\(|_test\(`)
	p.constant = re(`^(?:assert (?:True|1|not False|1 == 1|True is True|True == True)|self\.assertTrue\(True\)|` +
		`self\.assertEqual\((\d), \d\)|assert(?:\.ok|\.equal|\.strictEqual)?\((?:true|1|1, 1|true, true)\)|` +
		`expect\((?:true|1)\)\.(?:toBe|toEqual|toBeTruthy)\((?:true|1)?\)|assert!\(true\)|` +
		`assert_eq!\((?:1, 1|true, true)\));?$`)
	p.swallows = re(`\bexcept(?: \(?[\w., ]+\)?(?: as \w+)?)?:\s+(?:pass|\.\.\.|return)\s|` +
		`\bcatch\s*(?:\(\w*\)\s*)?\{\s*(?://[^\n]*\s*)?\}`)
	p.hides = re(`(?s)\btry\s*\{[^}]*\b(?:assert|expect)\b[^}]*\}\s*catch\s*(?:\(\w*\)\s*)?\{\s*(?://[^\n]*\s*)?\}`)
	p.catches = re(`^except(?: \(?[\w., ]*\b(?:AssertionError|Exception|BaseException)\b[\w., ]*\)?(?: as \w+)?)?:\s*(?:#.*)?$`)
	p.tuple = re(`(?m)^\s*assert \((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))+,\s*f?["'][^"'\n]*["']\)\s*$`)
	return p
})

// Sort is what is known about a test.
type Sort struct {
	Fresh  bool // it was not there before
	Wanted bool // the task asks for new tests
	Wider  bool // the task asks for wider tolerances
}

// Judge says what is wrong with a test of this name, given what it was before; empty: nothing.
func Judge(name, before, after string, sort Sort) string {
	if line := Itself(after); line != "" && !strings.Contains(before, line) {
		return fmt.Sprintf("the test %q compares something with itself: %s", name, line)
	}
	if sort.Fresh {
		reason := Reason(after)
		if reason == "" && sort.Wanted && assertsNothing(after) {
			reason = "it asserts nothing"
		}
		if reason != "" {
			return fmt.Sprintf("the new test %q cannot fail: %s", name, reason)
		}
		return ""
	}
	if m := Loosened(before, after); m != "" && !sort.Wider {
		return fmt.Sprintf("the test %q: it allows much more than before: %s", name, m)
	}
	if reason := Blunted(before, after); reason != "" && before != "" {
		return fmt.Sprintf("the test %q: %s", name, reason)
	}
	return ""
}

// assertsNothing reports whether a test has nothing that looks like an assertion.
func assertsNothing(test string) bool {
	_, body, _ := strings.Cut(test, "\n")
	return strings.TrimSpace(body) != "" && !patterns().checks.MatchString(body)
}

// Reason says why a test cannot fail; it is empty if it can.
func Reason(test string) string {
	p := patterns()
	for _, re := range p.replaced {
		for _, m := range re.FindAllStringSubmatch(test, -1) {
			call := regexp.MustCompile(`\b(?:assert|expect)\b[^\n]*\b` + m[1] + `\.` + m[2] + `\(`)
			if call.MatchString(test) {
				return "it replaces " + m[1] + "." + m[2] + ", and then tests that"
			}
		}
	}
	first, body, _ := strings.Cut(test, "\n")
	if p.hides.MatchString(body) || dropsFailures(body) {
		return "it swallows the failures of its assertions"
	}
	if line := p.tuple.FindString(body); line != "" && strings.Contains(first, "def ") {
		return "it asserts a tuple, which is always true: " + strings.TrimSpace(line)
	}
	var left []string
	constant := false
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); p.constant.MatchString(line) {
			constant = true
			continue
		}
		left = append(left, line)
	}
	rest := strings.Join(left, "\n")
	switch {
	case p.checks.MatchString(rest):
	case constant:
		return "it asserts only constants"
	case p.swallows.MatchString(body + "\n"):
		return "it asserts nothing, and swallows errors"
	}
	return ""
}
