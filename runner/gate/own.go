package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ralph/logs/lazy"
	"ralph/runner/audit"
)

// Own says which tests belong to the task of a turn: those that its text names, alone or by a group that no other open
// task has to do with, and those that a turn for it wrote or changed. The task is not done while one of them fails, even
// if the check failed before the run. The zero value: none.
type Own struct {
	Task   string // id; empty: there is no task
	Text   string
	Others string   // of the other open tasks
	Tests  []TestAt // that this turn wrote or changed
	// FailFirst is true for a task that asks for tests that fail until a later task is done.
	FailFirst bool
}

// TestAt is a test in the code.
type TestAt struct {
	File string `json:"file"` // slash path
	Name string `json:"name"` // as the code has it: TestAdd, test_add, "adds two numbers"
}

// has reports whether a test belongs to the task, by its name in a report.
func (o Own) has(test string) bool {
	where, parts := partsOf(test)
	if len(parts) == 0 {
		return false
	}
	groups, name := parts[:len(parts)-1], parts[len(parts)-1]
	whole := len(groups) > 0 && audit.HasName(o.Text, strings.Join(parts, "/")) // a subtest of Go
	return where != "" && (whole || strings.Contains(o.Text, test)) || named(o.Text, name) ||
		slices.ContainsFunc(groups, o.hasGroup) && !slices.ContainsFunc(parts, func(p string) bool { return named(o.Others, p) }) ||
		slices.ContainsFunc(o.Tests, func(t TestAt) bool { return slices.Contains(parts, t.Name) && t.in(where) })
}

// wrote reports whether a failure is of a test that this turn wrote or changed, or of a package that such a test keeps from
// being built.
func (o Own) wrote(test string) bool {
	where, parts := partsOf(test)
	return slices.ContainsFunc(o.Tests, func(t TestAt) bool {
		if len(parts) == 0 {
			return t.in(test)
		}
		return slices.Contains(parts, t.Name) && t.in(where)
	})
}

var ofTest = lazy.Regexp(`^(?:(?:Test|Fuzz|Example)[A-Z_]|test_)\w*$|^\w*[a-z0-9](?:Tests?|Spec|_test)$`)

// hasGroup reports whether the text names a group of tests: a class, a test with subtests. The name has to be that of a
// test, since that of code ("Cart") may be the group of every task about this code, and it has to stand alone:
// "TestCart.test_add" and "test_cart.py" are something else.
func (o Own) hasGroup(name string) bool {
	if !ofTest().MatchString(name) || !named(o.Text, name) {
		return false
	}
	longer := regexp.MustCompile(regexp.QuoteMeta(name) + `(?:[/.#]|::| > )\w`)
	return named(longer.ReplaceAllString(o.Text, ""), name)
}

var ofGo = lazy.Regexp(`\.(?:Test|Fuzz|Example)`)

// partsOf splits the name of a test in a report: "tests/test_a.py" and "TestB", "test_c" of "tests/test_a.py::TestB::test_c[1]",
// "example.com/p" and "TestA", "b" of "example.com/p.TestA/b". where is empty if the name does not say where the test is.
// A file or package that could not run has no parts.
func partsOf(test string) (where string, parts []string) {
	test, _, _ = strings.Cut(test, " (") // the values of a subtest
	switch {
	case strings.Contains(test, " > "):
		parts = strings.Split(test, " > ")
	case strings.Contains(test, "::"):
		test, _, _ = strings.Cut(test, "[")
		parts = strings.Split(test, "::")
	case strings.Contains(test, " "): // a sentence
		return "", []string{test}
	default:
		if at := ofGo().FindStringIndex(test); at != nil {
			where, test = test[:at[0]], test[at[0]+1:]
		} else if strings.Contains(test, "/") {
			return "", nil
		}
		test, _, _ = strings.Cut(test, "[")
		return where, strings.FieldsFunc(test, func(c rune) bool { return strings.ContainsRune("./#", c) })
	}
	if path.Ext(parts[0]) != "" {
		where, parts = parts[0], parts[1:]
	}
	return where, parts
}

// in reports whether a file or package of a report can be that of the test.
func (t TestAt) in(where string) bool {
	if ext := path.Ext(where); ext != "" && ext == path.Ext(t.File) { // relative to the folder of its check
		return t.File == where || strings.HasSuffix(t.File, "/"+where) || strings.HasSuffix(where, "/"+t.File)
	}
	folder := path.Dir(t.File)
	return where == "" || folder == "." || path.Base(folder) == path.Base(where)
}

// named reports whether a text names a test. A plain word does not, unless it is quoted: "adds" may mean anything.
func named(text, test string) bool {
	for _, quote := range []string{"`", `"`, "'"} {
		if strings.Contains(text, quote+test+quote) {
			return true
		}
	}
	lower := false
	telling := strings.ContainsFunc(test, func(c rune) bool {
		camel := lower && unicode.IsUpper(c)
		lower = unicode.IsLower(c)
		return camel || c == '_' || c == ' '
	})
	return telling && audit.HasName(text, test)
}
