//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/mockllm"
)

// The real CLI works in three slots on the tasks of a Spec Kit plan that have the mark for it.
func TestRalph_specKitPlanInThreeSlots_isWorkedOff(t *testing.T) {
	var sc mockllm.Scenario
	for range 4 {
		block := strings.Replace(mockllm.StatusBlock(false), "RECOMMENDATION", "TASK: {echo}\nRECOMMENDATION", 1)
		done := mockllm.Step{Text: "Done." + block, Echo: `## Your task\s+(T\d+)`}
		sc.Runs = append(sc.Runs, []mockllm.Step{ // the mock counts the steps of prompts that overlap together
			{Text: "I write a file.", Delay: time.Second, Tools: []mockllm.Tool{{Name: "bash", Command: "echo $RALPH_SLOT > $(mktemp ./work-XXXXXX)"}}},
			done, done, done, done,
		})
	}
	w := newProject(t, claude(), 1, sc)
	w.Git("rm", "-q", ".ralph/fix_plan.md")
	const plan = "specs/001-a/tasks.md"
	w.Write(".specify/feature.json", `{"feature_directory": "specs/001-a"}`)
	w.Write(plan, "## Phase 1: Setup\n\n- [ ] T001 Init\n\n## Phase 2: Core\n\n- [ ] T002 [P] Model\n- [ ] T003 [P] View\n- [ ] T004 [P] Control\n")
	w.Commit("plan")
	exit := w.ralph("run", "--parallel", "3").Wait(2 * time.Minute)
	if s := w.status(); exit != 0 || s.ExitReason != "plan_complete" || s.LoopCount != 4 {
		t.Errorf("exit %d, status %+v", exit, s)
	}
	if got := w.Read(plan); strings.Count(got, "[x] T00") != 4 {
		t.Errorf("the plan is %q", got)
	}
	atOnce, most := 0, 0
	for _, e := range w.events() {
		switch e.Kind {
		case "iteration_start":
			atOnce++
		case "iteration_end":
			atOnce--
		}
		most = max(most, atOnce)
	}
	if most != 3 {
		t.Errorf("%d turns at the same time", most)
	}
	if got := w.Git("log", "--format=%(trailers:key=Ralph-Task,valueonly)"); len(strings.Fields(got)) != 4 {
		t.Errorf("landed: %q", got)
	}
}
