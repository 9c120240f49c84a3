package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/cmd/internal/cmdline"
	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/state"
)

// checkIn runs the verb in a project with this .ralphrc.
func checkIn(t *testing.T, rc string) (out string, err error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".ralphrc"), []byte(rc), 0o644); err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var text strings.Builder
	env := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "HOME=" + dir}
	cmd := newCheckCmd(&cmdline.Factory{In: null, Out: &text, Err: &text, Dir: dir, Env: env})
	cmd.SetArgs([]string{})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.Execute()
	if _, e := os.Stat(filepath.Join(dir, ".ralph")); e == nil {
		t.Error("state was written")
	}
	return text.String(), err
}

func TestCheck_noChecksConfigured_isAUsageErrorWithAdvice(t *testing.T) {
	_, err := checkIn(t, "MAX_ITERATIONS=3\n")
	var exit *cmdline.ExitError
	if !errors.As(err, &exit) || exit.Code != state.ExitUsage || !strings.Contains(exit.Text, "TEST_COMMAND") {
		t.Errorf("error %v", err)
	}
}

func TestCheck_projectNotTrusted_runsNothing(t *testing.T) {
	_, err := checkIn(t, "TEST_COMMAND=\"touch ran\"\n")
	var exit *cmdline.ExitError
	if !errors.As(err, &exit) || exit.Code != state.ExitUsage || !strings.Contains(exit.Text, "ralph trust") {
		t.Errorf("error %v", err)
	}
}

func TestPrintChecks_eachVerdict_isOneLine(t *testing.T) {
	var text strings.Builder
	printChecks(&cmdline.Factory{Out: &text}, gate.Report{Results: []gate.Result{
		{Name: "build", Check: gate.Check{Kind: gate.KindBuild}, Verdict: gate.VerdictPassed, Passed: true, Duration: 1500 * time.Millisecond},
		{Name: "unit", Verdict: gate.VerdictPassed, Passed: true, Tests: report.Summary{Known: true, Passed: 11, Failed: 1, Skipped: 2}},
		{Name: "sh", Verdict: gate.VerdictPassed, Passed: true},
		{Name: "test", Tests: report.Summary{Known: true, Failed: 3}, Verdict: gate.VerdictFailed, Blocks: true, Blamed: []report.Test{{Name: "p.TestA", Message: "got 1\nwant 2"}}},
		{Name: "opt", Verdict: gate.VerdictFailed, Output: "a\n\x1b[31mError: b\n"},
		{Name: "web", Verdict: gate.VerdictSkipped, Reason: "nothing to check yet: no tests"},
	}})
	want := `CHECK  RESULT                   TESTS          SECONDS  FAILURE
build  passed                                  1.5
unit   passed                   12, 2 skipped  0.0
sh     passed                   not known      0.0
test   failed                   3              0.0      p.TestA: got 1
opt    failed (blocks nothing)  not known      0.0      Error: b
web    skipped                                 0.0      nothing to check yet: no tests
`
	if text.String() != want {
		t.Errorf("%s\nwant:\n%s", text.String(), want)
	}
}

func TestPrintTests_comparesWithTheBaselineAndSaysWhatIsNotKnown(t *testing.T) {
	var text strings.Builder
	base := &gate.Baseline{Checks: map[string]gate.Entry{"unit": {Tally: report.Tally{Ran: 3, Names: []string{"a", "b", "c"}}}}}
	printTests(&cmdline.Factory{Err: &text, Out: &text}, gate.Report{Results: []gate.Result{
		{Name: "unit", Verdict: gate.VerdictPassed, Tests: report.Summary{Known: true, Passed: 1, Tests: []report.Test{{Name: "b", Status: report.Passed}}}},
		{Name: "sh", Verdict: gate.VerdictPassed},
	}}, base)
	want := "sh: its output does not say which tests ran, so only its exit code counts\ncheck unit: 3 tests ran before, 1 runs now; gone: a, c\n"
	if text.String() != want {
		t.Errorf("got  %q\nwant %q", text.String(), want)
	}
	text.Reset()
	printTests(&cmdline.Factory{Err: &text, Out: &text}, gate.Report{Results: []gate.Result{{Name: "unit", Tests: report.Summary{Known: true}}}}, nil)
	if text.String() != "" {
		t.Errorf("without a baseline: %q", text.String())
	}
}

func TestTestsOf_skippedCheck_hasNone(t *testing.T) {
	if got := testsOf(gate.Result{Verdict: gate.VerdictSkipped, Tests: report.Summary{Known: true, Passed: 1}}); got != "" {
		t.Errorf("%q", got)
	}
}
