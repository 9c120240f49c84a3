package gate

import (
	"strings"
	"testing"

	"ralph/runner/gate/report"
)

func TestBaseline_numberOfTests_doesNotShrinkWithinARun(t *testing.T) {
	check := Check{Name: "test", Command: tapTests}
	s := suiteIn(t, ModeTDD, check)
	s.tap(t, "ok 1 - a\nnot ok 2 - b\n")
	s.take(t)
	s.tap(t, "ok 1 - a\n")
	rep := s.must(t)
	if l := rep.Losses(s.Baseline.Tests); len(l) != 1 || l[0].Before != 2 {
		t.Errorf("losses %+v", l)
	}
	s.Baseline.Forgive(rep.Losses(s.Baseline.Tests))
	if l := rep.Losses(s.Baseline.Tests); len(l) != 0 {
		t.Errorf("forgiven, but %+v", l)
	}
}

func TestMemoryBefore_theLatestRunElseTheBaseline(t *testing.T) {
	s := suiteIn(t, ModeTDD, Check{Name: "test", Command: tapTests})
	s.tap(t, "ok 1 - a\n")
	s.take(t)
	if got := s.Memory.Before(s.Baseline)("test"); got.Ran != 1 {
		t.Errorf("at the start: %+v", got)
	}
	s.tap(t, "ok 1 - a\nok 2 - b\nok 3 - c # SKIP\n")
	s.must(t)
	if got := s.Memory.Before(s.Baseline)("test"); got.Ran != 2 {
		t.Errorf("after a run: %+v", got)
	}
}

func TestLosses_whatSaysNothingAboutTests_isLeftOut(t *testing.T) {
	before := func(string) report.Tally { return report.Tally{Ran: 5} }
	for name, c := range map[string]struct {
		r    Result
		want int
	}{
		"its output names no tests any more":    {Result{Verdict: VerdictPassed}, 1},
		"it was skipped":                        {Result{Verdict: VerdictSkipped}, 0},
		"it fails":                              {Result{Verdict: VerdictFailed}, 0},
		"a build tool left the old report":      {Result{Verdict: VerdictPassed, Check: Check{JUnit: "*.xml"}}, 0},
		"a new report has fewer":                {Result{Verdict: VerdictPassed, Check: Check{JUnit: "*.xml"}, Tests: report.Summary{Known: true, Passed: 4}}, 1},
		"it fails as before, with fewer tests":  {Result{Verdict: VerdictKnown, Tests: report.Summary{Known: true, Failed: 1}}, 1},
		"as many, but one is skipped":           {Result{Verdict: VerdictPassed, Tests: report.Summary{Known: true, Passed: 4, Skipped: 1}}, 1},
		"as many, and one of them fails before": {Result{Verdict: VerdictKnown, Tests: report.Summary{Known: true, Passed: 4, Failed: 1}}, 0},
	} {
		if got := (Report{Results: []Result{c.r}}).Losses(before); len(got) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestUnread_saysWhereOnlyTheExitCodeCounts(t *testing.T) {
	for name, c := range map[string]struct {
		check Check
		said  bool
	}{
		"no report":          {Check{Name: "test", Command: "echo fine"}, true},
		"a report":           {Check{Name: "test", Command: "echo ok 1 - a"}, false},
		"not a test":         {Check{Name: "test", Command: "true", Kind: KindBuild}, false},
		"the user chose it":  {Check{Name: "test", Command: "true", Format: report.ExitCode}, false},
		"there is no test":   {Check{Name: "test", Command: "echo no packages to test"}, false},
		"a folder not there": {Check{Name: "test", Command: "true", Dir: "no"}, false},
	} {
		s := suiteIn(t, ModeGate, c.check)
		if got := s.must(t).Results[0].UnreadOutput(); (got != "") != c.said {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestBaselineForgive_onlyWhatIsRightlyGone(t *testing.T) {
	for name, c := range map[string]struct {
		base report.Tally
		loss report.Loss
		want int
	}{
		"two of them":                    {report.Tally{Ran: 3, Names: []string{"a", "b", "c"}}, report.Loss{Before: 3, Now: 1, Gone: []string{"a", "b"}}, 1},
		"one was younger":                {report.Tally{Ran: 3, Names: []string{"a", "b", "c"}}, report.Loss{Before: 5, Now: 3, Gone: []string{"a", "z"}}, 2},
		"others were gone before":        {report.Tally{Ran: 12}, report.Loss{Before: 9, Now: 8}, 11},
		"more than there were":           {report.Tally{Ran: 1}, report.Loss{Before: 9, Now: 2}, 0},
		"a renamed one is not an excuse": {report.Tally{Ran: 3, Names: []string{"a", "b", "c"}}, report.Loss{Before: 4, Now: 3, Gone: []string{"z"}}, 3},
	} {
		b := &Baseline{Checks: map[string]Entry{"t": {Tally: c.base}}}
		c.loss.Check = "t"
		b.Forgive([]report.Loss{c.loss, {Check: "other", Before: 2}})
		if got := b.Tests("t").Ran; got != c.want || len(b.Checks) != 1 {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestUnrun_requiredChecksThatProvedNothing(t *testing.T) {
	ran := func(name, dir string, n int) Result {
		return Result{Name: name, Check: Check{Name: name, Dir: dir}, Passed: true, Verdict: VerdictPassed, Tests: report.Summary{Known: true, Passed: n}}
	}
	skipped := func(reason string) Result {
		return Result{Name: "test", Check: Check{Name: "test"}, Verdict: VerdictSkipped, Reason: reason}
	}
	optional, build, failed := ran("opt", "", 0), ran("build", "", 0), ran("test", "", 0)
	optional.Check.Optional, build.Check.Kind, failed.Passed, failed.Verdict = true, KindBuild, false, VerdictFailed
	for name, c := range map[string]struct {
		results []Result
		want    string
	}{
		"tests ran":                {[]Result{ran("test", "", 3)}, ""},
		"no test ran":              {[]Result{ran("test", "", 0)}, "check test ran no test, so it proves nothing"},
		"nothing to check":         {[]Result{skipped("nothing to check yet: no go.mod")}, "check test did not run: nothing to check yet: no go.mod"},
		"nothing of it changed":    {[]Result{skipped(notMatched + "web/**")}, ""},
		"stopped before it":        {[]Result{skipped(notRun + "x")}, ""},
		"it failed":                {[]Result{failed}, ""},
		"optional, and not a test": {[]Result{optional, build}, ""},
		"another one has some":     {[]Result{ran("unit", "", 3), ran("e2e", "", 0)}, "check e2e ran no test, so it proves nothing"},
		"its format is not known":  {[]Result{{Name: "test", Passed: true, Verdict: VerdictPassed}}, ""},
	} {
		if got := strings.Join(Report{Results: c.results}.Unrun(), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
