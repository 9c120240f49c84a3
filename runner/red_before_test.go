package runner

import (
	"os"
	"slices"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// redFakes make one test green for each task, and another one when they are told what still fails.
var redFakes = map[string]func(*fake) int{
	"own-task-only": func(f *fake) int { return f.green(false) },
	"repairs-last":  func(f *fake) int { return f.green(true) },
	"ticks-all": func(f *fake) int { // does the first only
		put("green-alpha", "")
		put(planName, strings.ReplaceAll(read1(planName), "- [ ]", "- [x]"))
		return f.result("ok"+block(true, ""), nil)
	},
	"breaks-others": func(f *fake) int {
		_ = os.Remove("green-old")
		f.work()
		return f.result("ok"+block(false, ""), nil)
	},
}

func (f *fake) green(repair bool) int {
	_, rest, _ := strings.Cut(f.prompt, "## Your task\n\n")
	if title, _, ok := strings.Cut(rest, "\n"); ok && strings.Contains(f.prompt, "## Your task\n\n") {
		put("green-"+title, "")
		put(planName, strings.Replace(read1(planName), "- [ ] "+title, "- [x] "+title, 1))
	} else if repair {
		put("green-more", "")
	}
	says := ""
	if open1(planName) {
		says = "TESTS_STATUS: FAILING\n"
	}
	return f.result("ok"+block(!open1(planName), says), nil)
}

// redCheck has a test for each name that is green while its file is there.
func (b *bench) redCheck(names ...string) {
	b.d.Mode = gate.ModeAuto
	b.check("red=0; for t in " + strings.Join(names, " ") + `; do if [ -f green-$t ]; then echo "ok - $t"; else echo "not ok - $t"; red=1; fi; done; exit $red`)
}

func TestRun_oneRedTestPerTask_agentDoesOnlyItsOwn_isComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, "own-task-only", "[ ] one", "[ ] two")
	b.redCheck("one", "two")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if b.calls() != 2 {
		t.Errorf("%d calls, want one a task (%s)", b.calls(), b.rules())
	}
	p := b.read(".ralph/logs/run-1/1.prompt.md")
	if !strings.Contains(p, gate.Duty) || strings.Contains(p, "only when all of them pass") {
		t.Errorf("told:\n%s", p)
	}
}

func TestRun_tickWithoutWorkWhileItsOwnTestIsRed_isTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, "ticks-all", "[ ] Fix alpha", "[ ] Fix beta")
	b.redCheck("alpha", "beta")
	b.inGit()
	b.o.AntiCheat = turn.AnswerRevert
	wantEnd(t, b.run(t.Context()), "claimed_incomplete", state.ExitClaimed)
	if plan := b.read(planName); !strings.Contains(plan, "- [x] Fix alpha") || !strings.Contains(plan, "- [ ] Fix beta") {
		t.Error(plan)
	}
}

// The name that both texts say belongs to a group of tests.
func TestRun_oneRedSubtestPerTask_agentDoesOnlyItsOwn_isComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, "own-task-only", "[ ] TestCart adds", "[ ] TestCart drops")
	b.d.Mode = gate.ModeAuto
	b.check(`red=0; for t in adds drops; do if [ -f "green-TestCart $t" ]; then echo "--- PASS: TestCart/$t (0.00s)"; else echo "--- FAIL: TestCart/$t (0.00s)"; red=1; fi; done
		if [ $red = 0 ]; then printf 'ok  \tshop\t0.1s\n'; else printf 'FAIL\tshop\t0.1s\n'; fi; exit $red`)
	b.inGit()
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	if b.calls() != 2 {
		t.Errorf("%d calls, want one a task (%s)", b.calls(), b.rules())
	}
}

func TestRun_redBeforeTheRun_isTheLastAssignment(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "repairs-last", "[ ] one")
	b.redCheck("one", "more")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "complete", state.ExitComplete)
	p := b.read(".ralph/logs/run-1/2.prompt.md")
	if b.calls() != 2 || !strings.Contains(p, "this is your assignment now") || !strings.Contains(p, "\nmore\n") {
		t.Errorf("%d calls (%s), the last prompt:\n%s", b.calls(), b.rules(), p)
	}
}

func TestRun_redBeforeTheRunAndNobodyRepairsIt_isReviewed(t *testing.T) {
	t.Parallel()
	b := newBench(t, "own-task-only", "[ ] one")
	b.redCheck("one", "more")
	b.inGit()
	r := b.run(t.Context())
	wantEnd(t, r, "review", state.ExitReview)
	if b.calls() != 2 {
		t.Errorf("%d calls, want one for the task and one for what is red (%s)", b.calls(), b.rules())
	}
	if plan := b.read(planName); strings.Contains(plan, "[ ]") {
		t.Errorf("the tick does not stand:\n%s", plan)
	}
	if !slices.ContainsFunc(r.Decision.Review, func(i state.ReviewItem) bool { return i.Name == rules.ItemKnownRed }) {
		t.Errorf("to look at: %+v", r.Decision.Review)
	}
}

func TestRun_taskBreaksWhatWasGreen_staysOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, "breaks-others", "[ ] one")
	b.redCheck("old", "more")
	b.write("green-old", "")
	b.inGit()
	b.o.MaxIterations = 1
	wantEnd(t, b.run(t.Context()), "ceilings", state.ExitCeiling)
	if plan := b.read(planName); !strings.Contains(plan, "[ ] one") {
		t.Errorf("the tick stands:\n%s", plan)
	}
}

func TestRun_redBeforeTheRunWithoutAPlan_isToldAndThenReviewed(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "repairs-last")
	b.redCheck("old", "more")
	b.inGit()
	wantEnd(t, b.run(t.Context()), "review", state.ExitReview)
	if p := b.read(".ralph/logs/run-1/2.prompt.md"); !strings.Contains(p, "\nold\n") {
		t.Errorf("the agent was not told:\n%s", p)
	}
}

func TestRun_oneRedTestPerTaskSideBySide_isComplete(t *testing.T) {
	world.Long(t, "a whole run with several calls")
	t.Parallel()
	b := newBench(t, "own-task-only", "[ ] one", "[ ] two")
	b.redCheck("one", "two")
	b.inGit()
	b.o.Parallel, b.o.Isolate = 2, "worktree"
	b.run(t.Context())
	if r := b.rules(); !strings.Contains(r, "complete") || b.calls() > 3 {
		t.Errorf("%d calls: %s", b.calls(), r)
	}
}
