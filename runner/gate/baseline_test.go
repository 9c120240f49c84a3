package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/runner/gate/report"
)

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
