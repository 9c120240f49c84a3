package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/runner/gate/report"
)

func TestValidate_badRow_errorIsOneLineAndNamesTheProblem(t *testing.T) {
	for _, c := range []struct {
		row  Check
		want string
	}{
		{Check{Command: "true"}, `check with command "true": it needs a name`},
		{Check{Name: "a\nb", Command: "true"}, "one line"},
		{Check{Name: "a", Command: " "}, `check "a": it needs a command`},
		{Check{Name: "a", Command: "x\x00"}, "zero byte"},
		{Check{Name: "a", Command: "true", Kind: "tests"}, `unknown kind "tests"; known: lint-fast, build, test, lint`},
		{Check{Name: "a", Command: "true", OnFailure: "halt"}, `unknown on_failure "halt"; known: retry, warn, block_task, stop`},
		{Check{Name: "a", Command: "true", Format: "xunit"}, `unknown format "xunit"; known: go, pytest,`},
		{Check{Name: "a", Command: "true", Timeout: -time.Second}, "timeout -1s is not allowed"},
		{Check{Name: "a", Command: "true", Timeout: 25 * time.Hour}, "timeout 25h0m0s is not allowed"},
		{Check{Name: "a", Command: "true", Dir: "../x"}, `folder "../x" is not inside the project`},
		{Check{Name: "a", Command: "true", Dir: "/x"}, "not inside"},
		{Check{Name: "a", Command: "true", When: []string{"a", "[x"}}, `when "[x" is not a path glob`},
		{Check{Name: "a", Command: "true", When: []string{""}}, `when "" is not a path glob`},
		{Check{Name: "a", Command: "true", JUnit: "../*.xml"}, `junit "../*.xml"`},
	} {
		err := c.row.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Validate(%+v) = %v, want %s", c.row, err, c.want)
		}
	}
	good := Check{Name: "a", Command: "true", Kind: KindLintFast, OnFailure: BlockTask, Format: report.TAP, Timeout: time.Hour,
		Dir: "a/b", When: []string{"**/*.go", "x/"}, JUnit: "out/*.xml"}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

func TestInstrument_changesOnlyPlainCallsOfKnownRunners(t *testing.T) {
	dir := t.TempDir()
	for command, want := range map[string]string{
		"go test ./...":                       "go test -v=test2json ./...",
		"CGO_ENABLED=0 go test -race  ./... ": "CGO_ENABLED=0 go test -v=test2json -race  ./... ",
		"go test -run 'A B' ./...":            "go test -v=test2json -run 'A B' ./...",
		"go test -json ./...":                 "go test -v=test2json ./...",
		"go test -c ./x":                      "",
		"go test ./... | tee log":             "",
		"go test ./... >log":                  "",
		"go vet ./... && go test ./...":       "",
		"! go test ./...":                     "",
		"go test ./... &":                     "",
		"go test \"":                          "",
		"go build ./...":                      "",
		"make test":                           "",
		"jest":                                "",
	} {
		r, err := prepare(Check{Name: "t", Command: command}, Place{Dir: dir, Env: []string{"A=1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(r.dir)
		if want == "" {
			want = command
		}
		if got := strings.ReplaceAll(r.command, r.dir, "DIR"); got != want && r.dir != "" || r.dir == "" && r.command != want {
			t.Errorf("prepare(%q) = %q, want %q", command, got, want)
		}
	}
}

func TestInstrument_pytest_usesTheEnvironment(t *testing.T) {
	env := func(c Check, given ...string) string {
		t.Helper()
		r, err := prepare(c, Place{Env: given})
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(r.dir)
		if r.dir == "" {
			return strings.Join(r.env, " ")
		}
		return strings.ReplaceAll(strings.Join(r.env, " "), r.dir, "DIR")
	}
	const options = "--junitxml='DIR/junit.xml' -o junit_family=xunit1"
	if got := env(Check{Command: "make test"}, "A=1"); got != "A=1 PYTEST_ADDOPTS="+options {
		t.Errorf("environment %q", got)
	}
	if got := env(Check{Command: "pytest"}, "PYTEST_ADDOPTS=-q"); got != "PYTEST_ADDOPTS=-q PYTEST_ADDOPTS=-q "+options {
		t.Errorf("environment %q", got)
	}
	for _, c := range []Check{{Command: "ruff", Kind: KindLint}, {Command: "pytest", Format: report.ExitCode}, {Command: "go test ./..."}, {Command: "x", Format: report.TAP}} {
		if got := env(c, "A=1"); got != "A=1" {
			t.Errorf("%+v: environment %q", c, got)
		}
	}
}

// A fake pytest that reads PYTEST_ADDOPTS.
func TestSuite_pytestReport_usesNodeIDs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := suiteIn(t, ModeGate, Check{Name: "test", Command: "./pytest"})
	data, err := os.ReadFile("report/testdata/pytest-junit.xml")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\neval set -- $PYTEST_ADDOPTS\ncp report.xml \"${1#--junitxml=}\"\necho \"- generated xml file: $1 -\"\necho '= 1 failed, 1 passed, 1 skipped, 1 error in 0.1s ='\nexit 1\n"
	write(t, s.Place.Dir, map[string]string{"report.xml": string(data), "pytest": script})
	if err := os.Chmod(filepath.Join(s.Place.Dir, "pytest"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := s.must(t).Results[0]
	want := []string{"tests/test_b.py", "tests/test_a.py::test_adds", "tests/test_a.py::TestC::test_one[x-1]", `tests/test_a.py::TestC::test_one[\xe9::[y]-3]`, "tests/test_a.py::test_setup"}
	if !slices.Equal(names(r.Blamed), want) || r.Tests.Passed != 3 || r.Tests.Skipped != 2 {
		t.Errorf("tests %+v\n%s", r.Tests, r.Output)
	}
	if strings.Contains(r.Output, "generated") || !strings.Contains(r.Output, "1 failed") {
		t.Errorf("output %q", r.Output)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "ralph-check-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if _, err := os.Stat(filepath.Join(dir, junitFile)); err == nil {
			t.Errorf("report left behind in %s", dir)
		}
	}
}

func feedbackOf(blamed ...report.Test) Report {
	return Report{Results: []Result{{Name: "test", Command: "make test", Verdict: VerdictFailed, Blocks: true, Blamed: blamed, Output: "all of it"}}}
}

func TestFeedback_failedTests_haveMessageAndCommand(t *testing.T) {
	r := feedbackOf(report.Test{Name: "a.TestX", Message: "    x.go:3: got 1"}, report.Test{Name: "b.TestY", Message: "boom"})
	r.Results[0].Known = []string{"old"}
	want := `The required check "test" fails: 2 tests. Reproduce it with:

    make test

Red before your work, not caused by it: old

a.TestX
    x.go:3: got 1

b.TestY
boom`
	if got := r.Feedback(); got != want {
		t.Errorf("feedback:\n%s\nwant:\n%s", got, want)
	}
}

func TestFeedback_testsNotKnown_isTheOutput(t *testing.T) {
	if got := feedbackOf().Feedback(); !strings.HasSuffix(got, "Reproduce it with:\n\n    make test\n\nIts output:\n\nall of it") {
		t.Errorf("feedback:\n%s", got)
	}
}

func TestFeedback_nothingBlocks_isEmpty(t *testing.T) {
	if got := (Report{Results: []Result{{Name: "a", Verdict: VerdictFailed}, {Name: "b", Passed: true}}}).Feedback(); got != "" {
		t.Errorf("feedback %q", got)
	}
}

func TestFeedback_anySize_fitsTheBudgetAndNamesTheFirst(t *testing.T) {
	long := strings.Repeat("line of a message with ünïcode\n", 200)
	for _, c := range []struct{ checks, tests, message int }{{1, 1, 6000}, {1, 3, 6000}, {1, 500, 6000}, {1, 500, 10}, {4, 50, 3000}, {30, 2, 3000}} {
		var rep Report
		for range c.checks {
			var tests []report.Test
			for i := range c.tests {
				tests = append(tests, report.Test{Name: "example.com/p.Test" + string(rune('A'+i%26)), Message: strings.ToValidUTF8(long[:c.message], "")})
			}
			rep.Results = append(rep.Results, feedbackOf(tests...).Results...)
			rep.Results = append(rep.Results, Result{Name: "lint", Command: strings.Repeat("x", 5000), Verdict: VerdictFailed, Blocks: true, Output: long})
		}
		got := rep.Feedback()
		if len(got) > feedbackBudget || !strings.Contains(got, "example.com/p.TestA\nline") || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%+v: %d bytes", c, len(got))
		}
		if c.tests == 500 && !strings.Contains(got, " more: example.com/p.Test") {
			t.Errorf("%+v: the others are not named", c)
		}
		if c.checks == 1 && c.tests < 500 && len(got) < feedbackBudget/4 {
			t.Errorf("%+v: only %d bytes of the budget used", c, len(got))
		}
	}
}

func TestFirstLine_failedCheck_namesTheFailure(t *testing.T) {
	for _, c := range []struct {
		r    Result
		want string
	}{
		{Result{Blamed: []report.Test{{Name: "a", Message: "\n  boom\nmore"}}}, "a: boom"},
		{Result{Output: "compiling\n\nx.c:3: error: no\nmake: failed\n"}, "x.c:3: error: no"},
		{Result{Output: "one\ntwo\n"}, "two"},
		{Result{ExitCode: 1}, "exit code 1 and no output"},
		{Result{Passed: true, Output: "error"}, ""},
	} {
		if got := c.r.FirstLine(); got != c.want {
			t.Errorf("FirstLine() = %q, want %q", got, c.want)
		}
	}
}

func TestWhen_globsMatchAsDocumented(t *testing.T) {
	for _, c := range []struct {
		glob, file string
		want       bool
	}{
		{"*.go", "a/b/c.go", true}, {"*.go", "a.gox", false}, {"a/*.go", "a/b.go", true}, {"a/*.go", "a/b/c.go", false},
		{"**/*.go", "c.go", true}, {"**/*.go", "a/b/c.go", true}, {"a/**", "a/b/c", true}, {"a/**", "ab/c", false},
		{"a/", "a/b/c", true}, {"a/**/z.go", "a/z.go", true}, {"a/**/z.go", "a/b/c/z.go", true}, {"**", "x/y", true},
		{"./a/*", "a/b", true}, {"go.mod", "x/go.mod", true}, {"a/**/b/**/c", "a/b/b/c", true}, {"a/**/b/**/c", "a/c", false},
	} {
		if got := MatchGlob(c.glob, c.file); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.glob, c.file, got)
		}
	}
}
