package ledger

import (
	"testing"

	"ralph/runner/gate"
	"ralph/runner/gate/report"
)

func TestDisguised_exitCodeIsSwallowed_namesTheFailedTests(t *testing.T) {
	failed := func(names ...string) (s report.Summary) {
		s.Known, s.Failed, s.Passed = true, len(names), 1
		s.Tests = []report.Test{{Name: "ok", Status: report.Passed}}
		for _, name := range names {
			s.Tests = append(s.Tests, report.Test{Name: name, Status: report.Failed})
		}
		return s
	}
	again := failed("flaky")
	again.Tests = append(again.Tests, report.Test{Name: "flaky", Status: report.Passed})
	base := func(e gate.Entry) *gate.Baseline { return &gate.Baseline{Checks: map[string]gate.Entry{"test": e}} }
	for name, c := range map[string]struct {
		passed bool
		tests  report.Summary
		base   *gate.Baseline
		want   int
	}{
		"exit 0 and a failed test":                      {true, failed("a"), nil, 1},
		"the same, and the baseline was red":            {true, failed("a"), base(gate.Entry{Failed: []string{"a"}}), 1},
		"the same, and the baseline was green":          {true, failed("a"), base(gate.Entry{Passed: true}), 1},
		"it was so before the run":                      {true, failed("a"), base(gate.Entry{Passed: true, Failed: []string{"a"}}), 0},
		"a failed check":                                {false, failed("a"), nil, 0},
		"no failed test":                                {true, failed(), nil, 0},
		"the test passed when it ran again":             {true, again, nil, 0},
		"failures without a name, such as of a summary": {true, report.Summary{Known: true, Failed: 2}, nil, 0},
	} {
		rep := gate.Report{Results: []gate.Result{{Name: "test", Passed: c.passed, Tests: c.tests}}}
		if got := disguised(rep, c.base); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
