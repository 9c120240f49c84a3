package retest

import (
	"testing"

	"ralph/runner/gate"
	"ralph/runner/gate/report"
	"ralph/runner/git"
)

func TestFresh_testThatWasNotThereBefore(t *testing.T) {
	changed := git.Text{Path: "a.test.js", Before: "test('adds', f)", After: "test('adds', f)\ntest('drops', f)\ntest(`${a} becomes ${b}`, f)"}
	trial := trial{undo: undo{files: []git.Text{changed}}, tests: []string{changed.After, "test('other', f)"}}
	for name, want := range map[string]bool{"drops": true, "1 becomes 2": true, "adds": false, "other": false} {
		r := gate.Result{Tests: report.Summary{Tests: []report.Test{{Name: name, Status: report.Failed}}}}
		if got := trial.fresh(r); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !trial.fresh(gate.Result{}) {
		t.Error("a check without names")
	}
}

// A project may have tests that read its limits: what they say counts, unless they changed as well.
// A build has no tests, and a test that moved to another module has another name.
func TestBlind_movedTestThatNoticesAsMuch_isNone(t *testing.T) {
	is := gate.Report{Results: []gate.Result{{Name: "build"}, {Name: "test",
		Tests: report.Summary{Tests: []report.Test{{Name: "grid::tests::steps", Status: report.Passed}}}}}}
	seen := sight{then: []string{"grid::tests::steps", "tests::steps"}, now: []string{"grid::tests::steps"}}
	if got := blind([]sight{seen, seen}, is); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if got := blind([]sight{seen, seen}, gate.Report{Results: []gate.Result{{Name: "test"}}}); len(got) > 0 {
		t.Errorf("without the names of tests that pass: %v", got)
	}
	seen.now = nil
	if got := blind([]sight{seen, seen}, is); len(got) == 0 {
		t.Error("nothing notices it any more")
	}
}

func TestFollow_testsThatChangedWithTheSettings(t *testing.T) {
	x := &probe{files: []git.Text{{Path: "ask.test.js", After: "test('asks five times', f)"}, {Path: "settings.json", After: "lengths"}}}
	for name, want := range map[string]bool{"asks five times": true, "lengths": false} {
		r := gate.Result{Tests: report.Summary{Tests: []report.Test{{Name: name, Status: report.Failed}}}}
		if got := x.follow(r); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if x.follow(gate.Result{}) {
		t.Error("a check without names, such as a linter")
	}
}
