package view_test

import (
	"strings"
	"testing"

	"ralph/state"
	"ralph/state/view"
)

func TestRun_outputOfAFailedCheck_isKeptUntilItPasses(t *testing.T) {
	var r view.Run
	long := strings.Repeat("a line of the test\n", 200) + "FAIL: TestList\n"
	fold(&r, 1, "", state.IterationStart{}, state.Check{Name: "test", Output: long}, state.Check{Name: "lint", Output: "x"}, state.Check{Name: "lint", Passed: true})
	got := r.Iterations[0].Output
	if len(got) != 1 || len(got["test"]) > 1500 || !strings.HasPrefix(got["test"], "a line") || !strings.HasSuffix(got["test"], "FAIL: TestList") {
		t.Errorf("%q", got)
	}
	fold(&r, 1, "", state.IterationStart{}, state.Check{Name: "test", Output: strings.Repeat("é", 3000)})
	if got := r.Iterations[0].Output["test"]; len(got) < 1400 || len(got) > 1500 {
		t.Errorf("of one long line, %d bytes are kept", len(got))
	}
	for i := range 60 {
		fold(&r, i+2, "", state.IterationStart{})
	}
	if r.Iterations[0].Output != nil {
		t.Error("kept for ever")
	}
}
