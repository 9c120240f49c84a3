package turn_test

import (
	"slices"
	"strings"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/agent/ending"
)

func TestRun_agentInCircles_isEndedAndItsWorkIsKept(t *testing.T) {
	steps := slices.Concat([]scripted.Step{{Do: "write", Text: "new.go"}}, slices.Repeat([]scripted.Step{{Do: "run", Text: "cat code.go"}}, 12), []scripted.Step{{Do: "hang"}})
	res := here(t, scripted.Project(t, steps)).Result
	o := res.Call.Outcome
	if o.Class != ending.Repeating || !strings.Contains(o.Reason, "Bash(cat code.go)") || res.Cut != "" {
		t.Errorf("outcome %+v, cut %q", o, res.Cut)
	}
	if res.Call.ToolCalls < 10 || res.Duration.Seconds() > 20 || !slices.Contains(res.Work.Change.Files, "new.go") {
		t.Errorf("%d tool calls, %s, %+v", res.Call.ToolCalls, res.Duration, res.Work)
	}
	if len(res.Proof.Report.Results) == 0 {
		t.Error("the checks did not run")
	}
}
