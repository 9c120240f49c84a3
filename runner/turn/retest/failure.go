package retest

import (
	"regexp"
	"strings"
	"sync"
)

// failedOfNames reports whether a test failed because what it calls has another name or other
// parameters now.
func failedOfNames(message string) bool {
	for _, text := range []string{"NameError", "AttributeError", "ImportError", "ModuleNotFoundError", "NoMethodError",
		"ReferenceError", "TypeError",
		"SyntaxError", "fixture '", "is not a function", "Cannot find module", "undefined method"} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// failedOfBuild reports whether something does not build or is not there.
func failedOfBuild(text string) bool { return broken().MatchString(text) }

var broken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{`\[(?:build|setup) failed\]`, `\bundefined: `,
		`declared and not used`, `imported and not used`, `(?m)^error\[E\d+\]`, `could not compile`,
		`too many arguments`, `not enough arguments`, `cannot use `, `missing return`,
		`(?i)syntax error`, `unexpected end of file`, `unexpected EOF`, `(?i)command not found`, `: not found`,
		`No such file`, `unbound variable`, `ENOENT`, `(?i)unknown (?:option|command|flag)`,
		`(?i)invalid option`}, "|"))
})

// testName matches the name of a test in a report, and finds the one that it has in the code: "p.TestA/b",
// "a.py::test_b[1]".
var testName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:.*?(?:::| > )|[\w./-]*\.)*([^\[/(]+?)(?: \(.*|[\[/].*)?$`)
})

// bareName is the name that a test of a report has in the code.
func bareName(name string) string { return testName().ReplaceAllString(name, "$1") }
