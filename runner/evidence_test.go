package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

func TestRun_runAfterAnUnfinishedOne_keepsItsBaseline(t *testing.T) {
	t.Parallel()
	b := newBench(t, "busy", "[ ] one")
	b.d.Mode, b.o.MaxRetries = gate.ModeTDD, 1
	b.check("test ! -f work.txt || { echo broken; exit 1; }")
	wantEnd(t, b.run(t.Context()), "tasks_put_aside", state.ExitClaimed)
	b.d.RunID, b.o.MaxIterations = "run-2", 1
	if r := b.run(t.Context()); r.Decision.Exit == state.ExitComplete {
		t.Errorf("what the first run broke is forgiven: %s", r.Decision.Reason)
	}
	if red := payloads[state.Baseline](b); len(red) > 0 {
		t.Errorf("said to be red before: %q", red)
	}
}

// Another command between two runs may run other tests.
func TestRun_checkChangedByAPersonBetweenTwoRuns_countsAnew(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.inGit()
	b.d.Mode, b.o.MaxIterations = gate.ModeTDD, 1
	b.check("printf 'ok 1 - a\nok 2 - b\n'")
	b.run(t.Context())
	b.d.RunID, b.o.MaxIterations = "run-2", 0
	b.check("printf 'ok 1 - a\n'")
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
}

func TestRun_haltAtATickWithoutWork_takesItBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, "ticker", "[ ] one", "[ ] two")
	b.inGit()
	b.o.AntiCheat = turn.AnswerHalt
	r := b.run(t.Context())
	wantEnd(t, r, "integrity", state.ExitHalted)
	if plan := b.read(planName); strings.Contains(plan, "[x]") || strings.Contains(r.Decision.Next, "reset") {
		t.Errorf("next %q, plan:\n%s", r.Decision.Next, plan)
	}
}

func TestRun_checkWeakenedInTheLastIteration_agentIsToldBeforeTheEnd(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "weakener", "[ ] one")
	b.write("check.sh", "#!/bin/sh\ntest -f good\n")
	b.write("Makefile", "test:\n\tsh check.sh\n")
	b.inGit()
	b.o.AntiCheat = turn.AnswerRevert
	b.check("make test")
	r := b.run(t.Context())
	wantEnd(t, r, "review", state.ExitReview)
	if b.calls() != 2 || r.Findings == 0 {
		t.Fatalf("%d calls, %d findings: %s", b.calls(), r.Findings, b.said())
	}
	if prompt := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(prompt, "Makefile") || !strings.Contains(prompt, "so that you see this") {
		t.Errorf("second prompt:\n%s", prompt)
	}
}

func TestRun_checksThatAppear_areRunFromThenOn(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "busy", "[ ] one")
	b.o.MaxIterations = 2
	b.d.Detect, b.d.Mode = true, gate.ModeAuto
	b.d.Find = func(_ string, changed []string) []gate.Check {
		if !slices.Contains(changed, "work.txt") {
			return nil
		}
		return []gate.Check{{Name: "test", Command: "echo broken; exit 1"}}
	}
	b.inGit()
	b.run(t.Context())
	if got := b.rules(); !strings.Contains(got, "gate_failed") {
		t.Errorf("rules %s", got)
	}
	if found := b.found(state.FoundByChecks); len(found) == 0 || found[0] != "found in the project now: check test: echo broken; exit 1; " {
		t.Errorf("findings %q", found)
	}
}

func TestRun_killedBeforeTheChecks_tickIsProvedFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[x] one", "[ ] two")
	b.d.Mode, b.o.MaxIterations = gate.ModeTDD, 1
	b.check("test ! -f broken || { echo the check is red; exit 1; }")
	base := gate.Suite{Checks: b.d.Checks, Mode: b.d.Mode, Place: gate.Place{Dir: b.dir, Env: b.d.Env}}
	base.Baseline = &gate.Baseline{}
	if _, err := base.TakeBaseline(t.Context(), "run-0"); err != nil {
		t.Fatal(err)
	}
	if err := base.Baseline.Write(b.dir + "/.ralph/" + gate.BaselineFile); err != nil {
		t.Fatal(err)
	}
	b.write("broken", "by the call that was killed")
	list, err := store.Load(store.File{Path: b.d.Plan})
	if err != nil {
		t.Fatal(err)
	}
	killed := state.Status{RunID: "run-0", Status: state.StatusRunning, Phase: "checking", StartedAt: time.Now(), Task: state.TaskStatus{ID: list.Tasks[0].ID}}
	if err := b.w.SaveStatus(killed); err != nil {
		t.Fatal(err)
	}
	b.run(t.Context())
	if prompt := b.read(".ralph/logs/run-1/1.prompt.md"); !strings.Contains(prompt, "## Your task\n\none\n") || !strings.Contains(prompt, "the check is red") {
		t.Errorf("first prompt:\n%s", prompt)
	}
}

// killed is the state of a run that was killed in its first iteration, after the call has ticked the task one. It returns
// the task's id.
func (b *bench) killed() (id string) {
	b.t.Helper()
	b.write(".ralph/fix_plan.md", strings.Replace(b.read(".ralph/fix_plan.md"), "[ ] one", "[x] one", 1))
	list, err := store.Load(store.File{Path: b.d.Plan})
	if err == nil {
		id = list.Tasks[0].ID
		err = b.w.SaveStatus(state.Status{RunID: "run-0", Status: state.StatusRunning, Phase: "executing", StartedAt: time.Now(),
			IterationStartedAt: time.Now(), Task: state.TaskStatus{ID: id}})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// A call may tick its task first, and be killed before it has done anything.
func TestRun_killedWithNothingButATick_taskIsAssignedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.o.MaxIterations = 1
	b.check("true")
	b.inGit()
	b.killed()
	b.run(t.Context())
	if prompt := b.read(".ralph/logs/run-1/1.prompt.md"); !strings.Contains(prompt, "## Your task\n\none\n") || !strings.Contains(prompt, "ticked this task") {
		t.Errorf("first prompt:\n%s", prompt)
	}
}

// The iteration that a resumed run repeats has the work of the killed call, too: who undoes it opens both tasks again.
func TestRun_killedAfterItsWork_itIsCreditedToTheIterationThatHasIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.o.MaxIterations = 1
	b.check("true")
	b.inGit()
	b.d.Begun = git.State{Run: "run-0", Iteration: 1, Start: true, Base: strings.TrimSpace(b.git("rev-parse", "HEAD"))}
	b.write("one.txt", "by the call that was killed")
	id := b.killed()
	b.run(t.Context())
	s, err := b.w.Status()
	if m := s.Tasks[id]; err != nil || !m.Done || len(m.Work) != 1 || m.Work[0].Iteration != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// The commit after a kill has the work of the killed call, too, and its tick.
func TestRun_killedAfterItsWork_theNextCommitNamesBothTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.o.MaxIterations, b.o.AutoCommit = 1, true
	b.check("true")
	b.inGit()
	b.write("one.txt", "by the call that was killed")
	b.killed()
	b.run(t.Context())
	if got := strings.TrimSpace(b.git("log", "-1", "--format=%s")); got != "two; one" {
		t.Errorf("the subject is %q", got)
	}
}

func TestRun_lastIterationAllowedFinishesThePlan_isComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, "silent-worker", "[ ] one")
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "plan_complete", state.ExitComplete)
}

func TestRun_finalRun_leavesOutWhatNoChangeAskedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, "worker", "[ ] one", "[ ] two")
	b.d.Checks = []gate.Check{{Name: "test", Command: "true"}, {Name: "web", Command: "test ! -f work.txt", When: []string{"web/**"}}}
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
}

// Tests that are younger than the run may come and go, but the agent is told.
func TestRun_fewerTestsThanInTheTurnBefore_areTold(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "patches", "[ ] one", "[ ] two", "[ ] three")
	b.write("tests.txt", "ok 1 - a\n")
	b.inGit()
	b.d.Checks = []gate.Check{{Name: "test", Command: "cat tests.txt"}}
	patches := t.TempDir()
	for call, tests := range map[string]string{"1": "ok 1 - a\nok 2 - b\nok 3 - c\n", "2": "ok 1 - a\nok 2 - b\n", "3": "ok 1 - a\nok 2 - b\n# end\n"} {
		if err := os.Mkdir(filepath.Join(patches, call), 0o755); err != nil {
			t.Fatal(err)
		}
		put(filepath.Join(patches, call, "tests.txt"), tests)
	}
	b.d.Env = append(b.d.Env, patchVar+"="+patches)
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	const told = "check test: 3 tests ran before, 2 run now; gone: c"
	if found := b.found(state.FoundByAudit); len(found) != 1 || !strings.Contains(found[0], told) {
		t.Errorf("findings %q", found)
	}
	if p := b.read(".ralph/logs/run-1/3.prompt.md"); !strings.Contains(p, told) {
		t.Errorf("the agent was not told:\n%s", p)
	}
}
