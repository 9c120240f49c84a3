package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/runner/gate/report"
)

func TestBaseline_scopes_decideWhenItIsValid(t *testing.T) {
	at := func(scope Scope, run, task string) Moment { return Moment{scope, run, task} }
	for _, c := range []struct {
		taken, now Moment
		current    bool
	}{
		{at("", "r1", "t1"), at(ScopeSession, "r1", "t2"), true},
		{at(ScopeSession, "r1", "t1"), at(ScopeSession, "r2", "t1"), false},
		{at(ScopeTask, "r1", "t1"), at(ScopeTask, "r1", "t1"), true},
		{at(ScopeTask, "r1", "t1"), at(ScopeTask, "r1", "t2"), false},
		{at(ScopeTask, "r1", "t1"), at(ScopeTask, "r2", "t1"), false},
		{at(ScopeGlobal, "r1", "t1"), at(ScopeGlobal, "r9", "t9"), true},
		{at(ScopeSession, "r1", "t1"), at(ScopeGlobal, "r1", "t1"), false},
	} {
		path := filepath.Join(t.TempDir(), BaselineFile)
		b, err := ReadBaseline(path)
		if err != nil || b.Current(c.now) {
			t.Fatalf("fresh baseline: current, or %v", err)
		}
		b.take(Report{}, c.taken)
		if err := b.Write(path); err != nil {
			t.Fatal(err)
		}
		again, err := ReadBaseline(path)
		if err != nil || again.Current(c.now) != c.current {
			t.Errorf("taken at %+v, current at %+v: %v, %v", c.taken, c.now, again.Current(c.now), err)
		}
	}
	if (*Baseline)(nil).Current(at("", "r1", "")) {
		t.Error("no baseline is current")
	}
}

func TestBaseline_rebaseFromTheLastReport_acceptsCurrentFailures(t *testing.T) {
	s := suiteIn(t, ModeTDD, Check{Name: "test", Command: tapTests}, Check{Name: "other", Kind: KindLint, Command: "exit 1"})
	s.tap(t, "ok 1 - a\n")
	s.take(t)
	s.tap(t, "not ok 1 - a\n")
	rep := s.must(t)
	expect(t, rep, "test failed blocks", "other known-red")
	s.Rebase(rep, Moment{Scope: ScopeTask, Run: "r1", Task: "2"})
	if want := []string{"other", "test: a"}; !slices.Equal(s.Baseline.Red(), want) {
		t.Errorf("red %q", s.Baseline.Red())
	}
	expect(t, s.must(t), "test known-red", "other known-red")
}

func TestRead_brokenFiles_areRenamed(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"checks": 7}`, `{"flakes": 7}x`} {
		dir := t.TempDir()
		write(t, dir, map[string]string{BaselineFile: text, FlakesFile: text})
		b, err1 := ReadBaseline(filepath.Join(dir, BaselineFile))
		f, err2 := ReadFlakes(filepath.Join(dir, FlakesFile))
		if text == `{"checks": 7}` {
			err2 = errors.New("not of this shape") // flakes know no checks: an empty history
		}
		if b == nil || f == nil || err1 == nil || err2 == nil {
			t.Errorf("%q: %v, %v", text, err1, err2)
		}
		aside, err := filepath.Glob(filepath.Join(dir, "*.corrupt-*"))
		if err != nil || len(aside) == 0 {
			t.Errorf("%q: nothing set aside: %v", text, err)
		}
		b.take(Report{}, Moment{})
		if err := b.Write(filepath.Join(dir, BaselineFile)); err != nil {
			t.Error(err)
		}
	}
}

func TestReadBaseline_symlink_isNotFollowed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"other": `{"scope":"global"}`})
	path := filepath.Join(dir, BaselineFile)
	if err := os.Symlink(filepath.Join(dir, "other"), path); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBaseline(path); err == nil {
		t.Error("a link was read")
	}
}

func TestFlakes_manyTests_keepTheLatest(t *testing.T) {
	path := filepath.Join(t.TempDir(), FlakesFile)
	f := &Flakes{}
	for i := range flakesKept + 10 {
		f.record(Result{Name: "test", First: &Result{}, Flaky: []string{fmt.Sprint(i)}})
	}
	for range flakeRunsKept + 5 {
		f.record(Result{Name: "test", First: &Result{}, Flaky: []string{"20"}})
	}
	all := f.Flakes
	last := all[len(all)-1]
	if len(all) != flakesKept || all[0].Test != "10" || last.Test != "20" || last.Times != flakeRunsKept+6 || len(last.Runs) != flakeRunsKept {
		t.Errorf("%d kept, first %+v, last %+v", len(all), all[0], last)
	}
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !json.Valid(data) {
		t.Errorf("file: %v", err)
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
