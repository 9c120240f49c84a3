package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/gate/report"
	"ralph/state"
)

func TestNeedBaseline_scopes_decideHowLongABaselineIsValid(t *testing.T) {
	at := func(run, task string) state.Origin { return state.Origin{Run: run, Task: task} }
	for _, c := range []struct {
		scope      string
		taken, now state.Origin
		need       bool
	}{
		{"session", at("r1", "t1"), at("r1", "t2"), false},
		{"session", at("r1", "t1"), at("r2", "t1"), true},
		{"task", at("r1", "t1"), at("r1", "t1"), false},
		{"task", at("r1", "t1"), at("r1", "t2"), true},
		{"task", at("r1", "t1"), at("r2", "t1"), true},
		{"task", at("r1", "t1"), at("r1", ""), false}, // the end of the run must not forgive the last task
		{"global", at("r1", "t1"), at("r9", "t9"), false},
	} {
		k := Known{Rows: []Check{{Name: "test", Command: "true"}}, Scope: c.scope, Baseline: &Baseline{Task: c.taken.Task}}
		if !k.NeedBaseline(c.now) {
			t.Errorf("%+v: a baseline that was never taken is valid", c)
		}
		if k.Baseline.stamp(c.taken.Run); k.NeedBaseline(c.now) != c.need {
			t.Errorf("%+v", c)
		}
	}
}

// A new baseline for the next task does not hide that an earlier one removed tests.
func TestTake_nextTaskOfTheRun_keepsTheNumberOfTests(t *testing.T) {
	b, ran := &Baseline{}, func(n int) Report {
		tests := report.Summary{Known: true, Passed: n}
		return Report{Results: []Result{{Name: "test", Passed: true, Verdict: VerdictPassed, Tests: tests}}}
	}
	for _, c := range []struct {
		run     string
		ran, is int
	}{{"r1", 3, 3}, {"r1", 2, 3}, {"r1", 0, 3}, {"r2", 2, 2}} {
		if b.take(ran(c.ran), c.run); b.Tests("test").Ran != c.is {
			t.Errorf("%+v: %+v", c, b.Tests("test"))
		}
	}
}

func TestRead_brokenFiles_areRenamed(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"checks": 7}`} {
		dir := t.TempDir()
		path := filepath.Join(dir, BaselineFile)
		write(t, dir, map[string]string{BaselineFile: text})
		b, err := ReadBaseline(path)
		if b == nil || err == nil {
			t.Errorf("%q: %v", text, err)
		}
		aside, err := filepath.Glob(filepath.Join(dir, "*.corrupt-*"))
		if err != nil || len(aside) == 0 {
			t.Errorf("%q: nothing set aside: %v", text, err)
		}
		b.take(Report{}, "r1")
		if err := b.Write(path); err != nil {
			t.Error(err)
		}
	}
}

func TestReadBaseline_symlink_isNotFollowed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"other": `{"run":"r1"}`})
	path := filepath.Join(dir, BaselineFile)
	if err := os.Symlink(filepath.Join(dir, "other"), path); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBaseline(path); err == nil {
		t.Error("a link was read")
	}
}

func TestResultIgnoredFailures_linesOfAScript(t *testing.T) {
	const before = "ok a\nFAIL 'known' (20): got 1\nFAILED: 0\nFAIL 0 tests\n2 failed\nFAILURE_MODE on\n"
	r := Result{Name: "test", Passed: true, Output: before + "not ok b\nFAIL 'c d' (20): got 'x', want 'y'\n"}
	b := &Baseline{Checks: map[string]Entry{"test": {Passed: true, Failed: Result{Output: before}.saysFailed()}}}
	if got := strings.Join(r.IgnoredFailures(b), "; "); got != "not ok b; FAIL 'c d' (20): got 'x', want 'y'" {
		t.Error(got)
	}
}

func TestResultIgnoredFailures_onlyFailuresThatCountedBefore(t *testing.T) {
	tests := report.Summary{Known: true, Tests: []report.Test{{Name: "a", Status: report.Failed}, {Name: "b", Status: report.Failed}, {Name: "c", Status: report.Passed}}}
	for name, c := range map[string]struct {
		passed bool
		entry  Entry
		want   string
	}{
		"it passed without failures before": {true, Entry{Passed: true}, "a b"},
		"one failed and did not count":      {true, Entry{Passed: true, Failed: []string{"a"}}, "b"},
		"one failed and counted":            {true, Entry{Failed: []string{"a"}}, "a b"},
		"it fails":                          {false, Entry{Passed: true}, ""},
	} {
		b := &Baseline{Checks: map[string]Entry{"test": c.entry}}
		if got := strings.Join((Result{Name: "test", Passed: c.passed, Tests: tests}).IgnoredFailures(b), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
