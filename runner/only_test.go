package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/state"
)

func TestRun_viewOfThePlan_isCompleteWithoutTheOthers(t *testing.T) {
	b := newBench(t, "task-claimer")
	b.planOf(kiroPlan, "- [ ] 1. first\n- [ ] 2. second\n- [ ] 3. third\n")
	b.inGit()
	b.o.OnlyTasks = []string{"2"}
	end := b.run(t.Context())
	if got := b.read(kiroPlan); got != "- [ ] 1. first\n- [x] 2. second\n- [ ] 3. third\n" {
		t.Errorf("%q", got)
	}
	wantEnd(t, end, "plan_complete", state.ExitComplete)
	if !strings.Contains(end.Decision.Reason, "1 of 1 task is done") || !strings.HasSuffix(end.Decision.Reason, "; 2 other tasks are open") {
		t.Error(end.Decision.Reason)
	}
}

func TestRun_popTasks_finishedOnesLeaveThePlanButCount(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	b := newBench(t, "task-claimer")
	b.planOf(kiroPlan, "# Plan\n\n- [ ] 1. first\n  - step\n- [ ] 2. second\n")
	b.inGit()
	b.o.PopTasks, b.o.AutoCommit = true, true
	end := b.run(t.Context())
	wantEnd(t, end, "plan_complete", state.ExitComplete)
	if got := b.read(kiroPlan); got != "# Plan\n\n" || end.Done != 2 || end.Total != 2 {
		t.Errorf("%q, %d of %d", got, end.Done, end.Total)
	}
	if got := b.read(filepath.Join(".ralph", "archive", "tasks.jsonl")); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"text":"- [x] 1. first\n  - step\n"`) {
		t.Errorf("%q", got)
	}
}
