package audit

import (
	"testing"

	"ralph/runner/gate/report"
	"ralph/runner/task"
)

func TestFewerTests_explainedByTheTaskOrTheChange_noFinding(t *testing.T) {
	const both = "package a\n\nfunc TestAdd(t *testing.T) {\n\tAdd(1)\n}\n\nfunc TestSub(t *testing.T) {\n\tSubtract(1)\n}\n"
	const add = "package a\n\nfunc TestAdd(t *testing.T) {\n\tAdd(1)\n}\n"
	tests := File{Path: "a_test.go", Before: both, After: add, Existed: true, Exists: true}
	code := File{Path: "a.go", Before: "package a\n\nfunc Add() {}\n\nfunc Subtract() {}\n", After: "package a\n\nfunc Add() {}\n", Existed: true, Exists: true}
	sub := report.Loss{Check: "test", Before: 2, Now: 1, Gone: []string{"a.TestSub"}}
	plan := []task.Task{{ID: "1", Title: "Delete the test of Sub"}}
	for name, c := range map[string]struct {
		in   Input
		loss report.Loss
		want string
	}{
		"only the test is gone":      {Input{Files: []File{tests}}, sub, "check test: 2 tests ran before, 1 runs now; gone: a.TestSub"},
		"its code is gone, too":      {Input{Files: []File{tests, code}}, sub, ""},
		"numbers only":               {Input{Files: []File{tests, code}}, report.Loss{Check: "test", Before: 2, Now: 1}, ""},
		"and a subtest of it":        {Input{Files: []File{tests, code}}, report.Loss{Check: "test", Before: 3, Now: 1, Gone: []string{"a.TestSub", "a.TestSub/b"}}, ""},
		"more are gone":              {Input{Files: []File{tests, code}}, report.Loss{Check: "test", Before: 3, Now: 1, Gone: []string{"a.TestSub", "a.TestSubs"}}, "check test: 3 tests ran before, 1 runs now; gone: a.TestSub, a.TestSubs"},
		"nothing says what runs now": {Input{Files: []File{tests, code}}, report.Loss{Check: "test", Before: 2, Unread: true}, "check test: 2 tests ran before, and its output names none now"},
		"the task asks for it":       {Input{Files: []File{tests}, Task: "1", PlanBefore: plan, PlanAfter: plan}, sub, ""},
		"the test's file goes with the code": {Input{Files: []File{
			{Path: "src/at.js", Before: "export const at = 1\n", After: "", Existed: true, Exists: false}, {Path: "src/poly.js", Before: "export function at() {}\n", After: "", Existed: true, Exists: false},
			{Path: "test/poly.test.js", Before: "import { at } from '../src/poly.js';\ntest('from the end', () => {\n  at(1);\n});\n", After: "", Existed: true, Exists: false}}},
			report.Loss{Check: "test", Before: 3, Now: 2, Gone: []string{"from the end"}}, ""},
		"another file of code goes": {Input{Files: []File{
			{Path: "src/poly.js", Before: "export function at() {}\n", After: "", Existed: true, Exists: false},
			{Path: "test/cart.test.js", Before: "import { a } from '../src/cart.js';\ntest('adds', () => {\n  a(1);\n});\n", After: "", Existed: true, Exists: false}}},
			report.Loss{Check: "test", Before: 3, Now: 2, Gone: []string{"adds"}}, "check test: 3 tests ran before, 2 run now; gone: adds"},
		"the task names it": {Input{Task: "1", PlanBefore: []task.Task{{ID: "1", Title: "'writes rows' is flaky; skip it"}}},
			report.Loss{Check: "test", Before: 3, Now: 2, Gone: []string{"csv > writes rows"}}, ""},
		"the task names it, but the report names none": {Input{Task: "1", PlanBefore: []task.Task{{ID: "1", Title: "Skip `SpeedTest.test_many` unless the variable `GEO_SPEED` is set"}}},
			report.Loss{Check: "test", Before: 3, Now: 2}, ""},
		"the task names another": {Input{Task: "1", PlanBefore: []task.Task{{ID: "1", Title: "'writes rows' is flaky; skip it"}}},
			report.Loss{Check: "test", Before: 3, Now: 2, Gone: []string{"writes rows at once"}}, "check test: 3 tests ran before, 2 run now; gone: writes rows at once"},
	} {
		found, explained := FewerTests(c.in, []report.Loss{c.loss}, func(string) bool { return true })
		got := ""
		for _, f := range found {
			got += f.Text
		}
		if got != c.want || explained != (c.want == "") {
			t.Errorf("%s: explained %v\ngot  %q\nwant %q", name, explained, got, c.want)
		}
	}
}
