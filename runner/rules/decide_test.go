package rules

import (
	"strings"
	"testing"
	"time"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

var noon = time.Date(2026, 11, 20, 12, 30, 0, 0, time.Local)

func defaults() Policy {
	return Policy{
		CallsPerHour: 100, OnLimit: "wait", CompletionClaims: 2,
		BreakerPolicy: BreakerPolicy{NoProgressThreshold: 3, SameErrorThreshold: 5, DenialThreshold: 2, OutputDeclineThreshold: 70, Cooldown: 30 * time.Minute},
	}
}

// scene is a moment of a run; Starting says which table is asked.
type scene struct {
	Facts
	Starting, Unchecked, Another      bool
	It                                turn.Result
	Damaged, Never, PutAside, Waiting []string
	Attempts                          int
	Causes                            []string
	Fallback, Ends                    string
	Report                            gate.Report
	Blocked                           []state.TaskName
}

func (s scene) decide() Decision {
	if s.Starting {
		return Admit(Admission{Facts: s.Facts, Report: s.Report, Blocked: s.Blocked, Never: s.Never, PutAside: s.PutAside, Waiting: s.Waiting, WaitingSince: noon, Unchecked: s.Unchecked, Ends: s.Ends})
	}
	return Conclude(Conclusion{Facts: s.Facts, Result: s.It, Damaged: s.Damaged, Attempts: s.Attempts, Another: s.Another, Causes: s.Causes, Fallback: s.Fallback})
}

// usual is an iteration that changed a file, with 2 of 3 tasks open.
func usual() scene {
	plan := turn.Plan{Known: true, Done: 1, Total: 3, Remaining: 2}
	return scene{
		It: turn.Result{Origin: state.Origin{Iteration: 1}, Call: turn.Call{Made: true, Outcome: agent.Outcome{Class: ending.CompletedTurn}},
			Work: turn.Work{Before: plan, Change: git.Change{Count: 1, Files: []string{"a.go"}}}, Proof: turn.Proof{After: plan}},
		Facts: Facts{
			Memory: Memory{Breaker: state.Breaker{State: state.BreakerClosed}, Iterations: 1}, Policy: defaults(), Plan: plan, HadPlan: true,
			Calls: state.Calls{Hour: pace.HourOf(noon), Calls: 1}, Started: noon.Add(-time.Hour), Now: noon,
		},
	}
}

func claim(f *scene, times int) {
	f.It.Call.Signalled, f.It.Call.Signal = true, statusblock.Signal{Exit: true, HasExit: true, Status: "COMPLETE"}
	f.Memory.Claims = times
}

func done(f *scene) {
	f.Plan = turn.Plan{Known: true, Done: 3, Total: 3}
	f.It.Proof.After = f.Plan
}

func noPlan(f *scene) { f.Plan, f.HadPlan, f.It.Proof.After = turn.Plan{}, false, turn.Plan{} }

func starting(f *scene) { f.Starting, f.It = true, turn.Result{} }

func found(f *scene, x audit.Finding) {
	f.Policy.AntiCheat, f.It.Proof.Findings = turn.AnswerHalt, []audit.Finding{x}
}

func failing(f *scene) {
	f.Report = gate.Report{Results: []gate.Result{{Name: "test", Command: "make test", Output: "FAIL", Verdict: gate.VerdictFailed, Blocks: true}}}
	f.It.Proof.Report, f.It.Proof.Tries, f.It.Checks.Rows = f.Report, 1, []gate.Check{{Name: "test"}}
}

// redBefore is a check that was red before the run and still is.
func redBefore(f *scene) {
	f.Report = gate.Report{Mode: gate.ModeAuto, Results: []gate.Result{{Name: "test", Command: "make test", Output: "FAIL", Verdict: gate.VerdictKnown, BlocksEnd: true}}}
	f.It.Proof.Report, f.It.Checks.Rows, f.Policy.MaxRetries = f.Report, []gate.Check{{Name: "test"}}, 3
	f.Review = []state.ReviewItem{{Name: ItemKnownRed, Text: "check test failed before the run and still fails"}}
}

func passing(f *scene) {
	f.Report = gate.Report{Results: []gate.Result{{Name: "test", Passed: true, Verdict: gate.VerdictPassed}}}
	f.It.Proof.Report, f.It.Checks.Rows = f.Report, []gate.Check{{Name: "test"}}
}

func open(f *scene, set func(*state.Breaker)) {
	f.Memory.Breaker = state.Breaker{State: state.BreakerOpen, Reason: "because", OpenedAt: noon}
	set(&f.Memory.Breaker)
}

func TestRules_eachRule_onBothSidesOfItsBorder(t *testing.T) {
	tests := []struct {
		name string
		set  func(*scene)
		rule string
		act  state.Action
		exit int
	}{
		{"nothing special", func(*scene) {}, "continue", state.ActionContinue, 0},

		{"SIGINT", func(f *scene) { f.Interrupt = &Interrupt{Exit: 130} }, "interrupted", state.ActionStop, 130},
		{"SIGTERM beats everything else", func(f *scene) {
			f.Interrupt = &Interrupt{Exit: 143}
			done(f)
			claim(f, 1)
		}, "interrupted", state.ActionStop, 143},

		{"ralph stop, while tasks are open", func(f *scene) { f.Interrupt = &Interrupt{Exit: 130, Lenient: true} }, "interrupted", state.ActionStop, 130},
		{"ralph stop, the agent cannot be used either", func(f *scene) { f.Interrupt = &Interrupt{Exit: 130, Lenient: true}; outcome(f, ending.Auth) }, "interrupted", state.ActionStop, 130},
		{"ralph stop, but everything is done", func(f *scene) { f.Interrupt = &Interrupt{Exit: 130, Lenient: true}; done(f); claim(f, 1) }, "complete", state.ActionStop, 0},
		{"ralph stop, while a check fails", func(f *scene) { f.Interrupt = &Interrupt{Exit: 130, Lenient: true}; done(f); failing(f) }, "interrupted", state.ActionStop, 130},
		{"red before the run, at the end", func(f *scene) { starting(f); done(f); redBefore(f) }, "gate_failed", state.ActionRetry, 0},
		{"red before the run, after the last task", func(f *scene) { done(f); redBefore(f); claim(f, 1) }, "plan_complete", state.ActionContinue, 0},
		{"red before the run, a turn has changed something", func(f *scene) { starting(f); done(f); redBefore(f); f.Memory.Repairs = 2 }, "gate_failed", state.ActionRetry, 0},
		{"red before the run, a turn has changed nothing", func(f *scene) {
			starting(f)
			done(f)
			redBefore(f)
			f.Memory.Repairs, f.Memory.Breaker.NoProgress = 1, 1
		}, "review", state.ActionStop, 9},
		{"red before the run, enough turns have tried", func(f *scene) { done(f); redBefore(f); claim(f, 1); f.Memory.Repairs = 3 }, "review", state.ActionStop, 9},
		{"red before the run, no iteration is left", func(f *scene) {
			starting(f)
			done(f)
			redBefore(f)
			f.Policy.MaxIterations, f.Memory.Iterations = 1, 1
		}, "review", state.ActionStop, 9},
		{"red before the run, and accepted", func(f *scene) { starting(f); done(f); redBefore(f); f.Review = nil }, "plan_complete", state.ActionStop, 0},
		{"red before the run, while tasks are open", func(f *scene) { redBefore(f); f.Review = nil }, "continue", state.ActionContinue, 0},
		{"red before the run, no plan, a first claim", func(f *scene) { noPlan(f); redBefore(f); claim(f, 1) }, "gate_failed", state.ActionRetry, 0},
		{"red before the run, no plan, nothing helped", func(f *scene) {
			noPlan(f)
			redBefore(f)
			claim(f, 2)
			f.Memory.Repairs, f.Memory.Breaker.NoProgress = 1, 1
		}, "review", state.ActionStop, 9},
		{"the last checks were skipped", func(f *scene) { starting(f); done(f); f.Unchecked = true }, "continue", state.ActionContinue, 0},
		{"the last checks were skipped, and then a signal", func(f *scene) {
			starting(f)
			done(f)
			f.Unchecked, f.Interrupt = true, &Interrupt{Exit: 143}
		}, "interrupted", state.ActionStop, 143},
		{"ralph stop, before a turn", func(f *scene) {
			starting(f)
			f.Interrupt = &Interrupt{Exit: 130, Lenient: true}
			f.Waiting = []string{"Q1"}
		}, "interrupted", state.ActionStop, 130},
		{"ralph stop, before a turn, but nothing is left", func(f *scene) { starting(f); f.Interrupt = &Interrupt{Exit: 130, Lenient: true}; done(f) }, "plan_complete", state.ActionStop, 0},
		{"a check that stops the run fails in the last iteration of its task", func(f *scene) {
			failing(f)
			f.It.Proof.Report.Results[0].Check.OnFailure = gate.Stop
			f.Policy.MaxPerTask, f.Attempts, f.It.Task = 1, 1, task.Task{ID: "T1"}
		}, "gate_failed", state.ActionStop, 8},
		{"a check fails in the last iteration of its task", func(f *scene) {
			failing(f)
			f.Policy.MaxPerTask, f.Attempts, f.It.Task = 1, 1, task.Task{ID: "T1"}
		}, "task_attempts", state.ActionContinue, 0},

		{"not logged in", func(f *scene) { outcome(f, ending.Auth) }, "agent_unusable", state.ActionStop, 6},
		{"no credit", func(f *scene) { outcome(f, ending.NoCredit) }, "agent_unusable", state.ActionStop, 6},
		{"disabled by admin", func(f *scene) { outcome(f, ending.DisabledByAdmin) }, "agent_unusable", state.ActionStop, 6},
		{"unknown model", func(f *scene) { outcome(f, ending.BadModel) }, "agent_unusable", state.ActionStop, 6},
		{"not installed", func(f *scene) { f.It = turn.Result{Agent: "codex", Call: turn.Call{NotStarted: "program not found"}} }, "agent_unusable", state.ActionStop, 6},
		{"crash is not an unusable agent", func(f *scene) { outcome(f, ending.Crash) }, "continue", state.ActionContinue, 0},

		{"usage limit", func(f *scene) { outcome(f, ending.UsageLimit); f.LimitedUntil = noon.Add(time.Hour) }, "usage_limit", state.ActionWait, 0},
		{"usage limit, reset in a day", func(f *scene) { outcome(f, ending.UsageLimit); f.LimitedUntil = noon.Add(24 * time.Hour) }, "usage_limit", state.ActionWait, 0},
		{"usage limit, reset in more than a day", func(f *scene) { outcome(f, ending.UsageLimit); f.LimitedUntil = noon.Add(24*time.Hour + 1) }, "usage_limit", state.ActionStop, 7},
		{"usage limit, reset after the end of the run's time", func(f *scene) {
			outcome(f, ending.UsageLimit)
			f.LimitedUntil, f.Policy.MaxDuration = noon.Add(2*time.Hour), 2*time.Hour
		}, "usage_limit", state.ActionStop, 7},
		{"usage limit, another agent is free", func(f *scene) { outcome(f, ending.UsageLimit); f.Fallback = "codex" }, "usage_limit", state.ActionRetry, 0},
		{"usage limit, told to stop", func(f *scene) { outcome(f, ending.UsageLimit); f.Policy.OnLimit = "stop" }, "usage_limit", state.ActionStop, 7},
		{"limit of an earlier run, not over", func(f *scene) { starting(f); f.LimitedUntil = noon.Add(time.Second) }, "usage_limit", state.ActionWait, 0},
		{"limit of an earlier run, but the ceiling is reached", func(f *scene) {
			starting(f)
			f.LimitedUntil, f.Policy.MaxIterations = noon.Add(time.Hour), 1
		}, "ceilings", state.ActionStop, 4},
		{"limit of an earlier run, but nothing is left", func(f *scene) { starting(f); done(f); f.LimitedUntil = noon.Add(time.Hour) }, "plan_complete", state.ActionStop, 0},
		{"limit of an earlier run, over", func(f *scene) { starting(f); f.LimitedUntil = noon }, "continue", state.ActionContinue, 0},

		{"overloaded", func(f *scene) { outcome(f, ending.Overloaded); f.Memory.Retries = 1 }, "transient", state.ActionRetry, 0},
		{"overloaded too often", func(f *scene) { outcome(f, ending.Overloaded); f.Memory.Retries = 0 }, "continue", state.ActionContinue, 0},
		{"stale session", func(f *scene) { outcome(f, ending.StaleSession); f.Memory.Stale = true }, "transient", state.ActionRetry, 0},
		{"stale session, also without one", func(f *scene) { outcome(f, ending.StaleSession) }, "continue", state.ActionContinue, 0},

		{"files damaged", func(f *scene) { f.Damaged = []string{"PROMPT.md"}; f.Memory.Damages = 1 }, "integrity", state.ActionRetry, 0},
		{"a finding, halt", func(f *scene) { found(f, audit.Finding{}) }, "integrity", state.ActionStop, 3},
		{"a finding in doubt, halt", func(f *scene) { found(f, audit.Finding{Doubt: true}) }, "continue", state.ActionContinue, 0},
		{"files damaged again", func(f *scene) { f.Damaged = []string{"PROMPT.md"}; f.Memory.Damages = 2 }, "integrity", state.ActionStop, 3},

		{"plan gone", func(f *scene) { f.Plan = turn.Plan{Known: true, Error: "gone"}; f.It.Proof.After = f.Plan }, "plan_unusable", state.ActionStop, 2},
		{"plan left broken and put back twice", func(f *scene) { f.It.Work.PlanBroken = "no tasks"; f.Memory.BadPlans = 2 }, "continue", state.ActionContinue, 0},
		{"plan left broken and put back a third time", func(f *scene) { f.It.Work.PlanBroken = "no tasks"; f.Memory.BadPlans = 3 }, "plan_unusable", state.ActionStop, 2},
		{"plan emptied", func(f *scene) { f.Plan = turn.Plan{Known: true} }, "plan_unusable", state.ActionStop, 2},
		{"plan that never had tasks", func(f *scene) { f.Plan = turn.Plan{Known: true}; f.HadPlan = false }, "continue", state.ActionContinue, 0},
		{"only impossible tasks", func(f *scene) { starting(f); f.Never = []string{"US-2"} }, "plan_unusable", state.ActionStop, 2},
		{"only blocked tasks", func(f *scene) { starting(f); f.Blocked = []state.TaskName{{ID: "a"}} }, "blocked", state.ActionStop, 9},

		{"denied twice", func(f *scene) {
			f.It.Call.Denied, f.It.Call.Advice = []state.Tool{{Name: "Bash", Arg: "rm x"}}, []string{"add it"}
			open(f, func(b *state.Breaker) { b.PermissionDenials = 2 })
		}, "permission_denied", state.ActionStop, 3},
		{"denied once", func(f *scene) {
			f.It.Call.Denied = []state.Tool{{Name: "Bash"}}
			f.Memory.Breaker.PermissionDenials = 1
		}, "continue", state.ActionContinue, 0},

		{"check failed", failing, "gate_failed", state.ActionRetry, 0},
		{"check failed although the plan is done and signalled", func(f *scene) { failing(f); done(f); claim(f, 1) }, "gate_failed", state.ActionRetry, 0},
		{"check failed too often", func(f *scene) { failing(f); f.It.Task.ID, f.It.Proof.Tries, f.Policy.MaxRetries = "T1", 4, 3 }, "gate_failed", state.ActionContinue, 0},
		{"check failed, a try left", func(f *scene) { failing(f); f.It.Task.ID, f.It.Proof.Tries, f.Policy.MaxRetries = "T1", 3, 3 }, "gate_failed", state.ActionRetry, 0},
		{"check failed as it did for a task that was put aside", func(f *scene) {
			failing(f)
			f.It.Task.ID, f.Causes = "T2", []string{f.It.ErrorText()}
		}, "gate_failed", state.ActionStop, 3},
		{"check failed in another way than for a task that was put aside", func(f *scene) { failing(f); f.It.Task.ID, f.Causes = "T2", []string{"lint: x"} }, "gate_failed", state.ActionRetry, 0},
		{"attempts used up", func(f *scene) { f.It.Task.ID, f.Attempts, f.Policy.MaxPerTask = "T1", 10, 10 }, "task_attempts", state.ActionContinue, 0},
		{"an attempt left", func(f *scene) { f.It.Task.ID, f.Attempts, f.Policy.MaxPerTask = "T1", 9, 10 }, "continue", state.ActionContinue, 0},
		{"attempts without a bound", func(f *scene) { f.It.Task.ID, f.Attempts = "T1", 1000 }, "continue", state.ActionContinue, 0},
		{"attempts used up, but it is done", func(f *scene) {
			f.It.Task.ID, f.Attempts, f.Policy.MaxPerTask = "T1", 10, 10
			f.Plan.List.Tasks = []task.Task{{ID: "T1", State: task.Done}}
		}, "continue", state.ActionContinue, 0},
		{"half open, and another task is there", stuckTask, "task_stuck", state.ActionContinue, 0},
		{"half open, and a check fails", func(f *scene) { stuckTask(f); failing(f) }, "task_stuck", state.ActionContinue, 0},
		{"half open, and a check fails for the last time", func(f *scene) {
			stuckTask(f)
			failing(f)
			f.Policy.MaxRetries, f.It.Proof.Tries = 3, 4
		}, "gate_failed", state.ActionContinue, 0},
		{"half open, and no other task is there", func(f *scene) { stuckTask(f); f.Another = false }, "continue", state.ActionContinue, 0},
		{"half open, and the tasks were named for the run", func(f *scene) { stuckTask(f); f.Plan.List.View.Tasks = []string{"T1", "T2"} }, "continue", state.ActionContinue, 0},
		{"half open after a cool-down, and this turn got somewhere", func(f *scene) { stuckTask(f); f.Memory.Breaker.NoProgress = 0 }, "continue", state.ActionContinue, 0},
		{"an error is one short of its threshold", func(f *scene) {
			stuckTask(f)
			f.Memory.Breaker = state.Breaker{State: state.BreakerClosed, SameError: 4}
		}, "task_stuck", state.ActionContinue, 0},
		{"an error is two short of its threshold", func(f *scene) {
			stuckTask(f)
			f.Memory.Breaker = state.Breaker{State: state.BreakerClosed, SameError: 3}
		}, "continue", state.ActionContinue, 0},
		{"the first error, with a threshold of two", func(f *scene) {
			stuckTask(f)
			f.Memory.Breaker, f.Policy.SameErrorThreshold = state.Breaker{State: state.BreakerClosed, SameError: 1}, 2
		}, "continue", state.ActionContinue, 0},
		{"check failed that ends the run", func(f *scene) { failing(f); f.Report.Results[0].Check.OnFailure = gate.Stop }, "gate_failed", state.ActionStop, 8},
		{"check failed that is not required", func(f *scene) { failing(f); f.It.Proof.Report.Results[0].Blocks = false }, "continue", state.ActionContinue, 0},
		{"only given-up tasks", func(f *scene) { starting(f); f.PutAside = []string{"T1"} }, "tasks_put_aside", state.ActionStop, 8},
		{"an unanswered question", func(f *scene) { starting(f); f.Waiting, f.Policy.QuestionWait = []string{"q1"}, 1 }, state.RuleQuestion, state.ActionWait, 0},
		{"a question nobody answered", func(f *scene) { starting(f); f.Waiting = []string{"q1"} }, state.RuleQuestion, state.ActionStop, 9},
		{"a turn that asks", func(f *scene) { f.It.Call.Asks = []state.Ask{{Text: "Which?"}} }, state.RuleQuestion, state.ActionContinue, 0},
		{"check passed", passing, "continue", state.ActionContinue, 0},
		{"check failed before an iteration of a finished plan", func(f *scene) { starting(f); done(f); failing(f) }, "gate_failed", state.ActionRetry, 0},

		{"plan done and signalled, with an open finding", func(f *scene) { done(f); claim(f, 1); f.Review = []state.ReviewItem{{Text: "x"}} }, "review", state.ActionStop, 9},
		{"plan done, the last call crashed", func(f *scene) { done(f); outcome(f, ending.Crash); f.Memory.Contradiction = "it crashed" }, "verify", state.ActionRetry, 0},
		{"plan done and signalled", func(f *scene) { done(f); claim(f, 1) }, "complete", state.ActionStop, 0},
		{"plan done, checks pass", func(f *scene) { done(f); passing(f) }, "complete", state.ActionStop, 0},
		{"plan done, neither signal nor checks", done, "plan_complete", state.ActionContinue, 0},
		{"plan done, neither signal nor checks, nor an iteration left", func(f *scene) { done(f); f.Policy.MaxIterations = 1 }, "plan_complete", state.ActionContinue, 0},
		{"plan done, signalled by a failed call", func(f *scene) { done(f); claim(f, 0); outcome(f, ending.Crash) }, "plan_complete", state.ActionContinue, 0},
		{"no plan, second signal", func(f *scene) { noPlan(f); claim(f, 2) }, "complete", state.ActionStop, 0},
		{"no plan, first signal", func(f *scene) { noPlan(f); claim(f, 1) }, "continue", state.ActionContinue, 0},

		{"a check fails before an iteration of a finished plan, and the hour is used up", func(f *scene) {
			starting(f)
			done(f)
			failing(f)
			f.Calls.Calls = 100
		}, "hourly", state.ActionWait, 0},
		{"nothing left, but the last word contradicts it", func(f *scene) { starting(f); done(f); f.Memory.Contradiction = "x" }, "verify", state.ActionContinue, 0},
		{"nothing left, contradicted, and the hour is used up", func(f *scene) { starting(f); done(f); f.Memory.Contradiction = "x"; f.Calls.Calls = 100 }, "hourly", state.ActionWait, 0},
		{"nothing left, contradicted once more after it was verified", func(f *scene) {
			starting(f)
			done(f)
			f.Memory.Contradiction, f.Memory.Verified, f.Review = "x", true, []state.ReviewItem{{Text: "x"}}
		}, "review", state.ActionStop, 9},
		{"nothing left, contradicted, and no iteration left", func(f *scene) {
			starting(f)
			done(f)
			f.Memory.Contradiction, f.Policy.MaxIterations, f.Review = "x", 1, []state.ReviewItem{{Text: "x"}}
		}, "review", state.ActionStop, 9},
		{"nothing left before an iteration", func(f *scene) { starting(f); done(f) }, "plan_complete", state.ActionStop, 0},
		{"a hook ends the run, checks pass", func(f *scene) { starting(f); passing(f); f.Ends = "a hook says so" }, "hook", state.ActionStop, 0},
		{"a hook ends the run, a check fails", func(f *scene) { starting(f); failing(f); f.Ends = "a hook says so" }, "gate_failed", state.ActionRetry, 0},
		{"a hook ends the run, and a person has to look", func(f *scene) {
			starting(f)
			f.Ends, f.Review = "a hook says so", []state.ReviewItem{{Text: "x"}}
		}, "review", state.ActionStop, 9},
		{"something left before an iteration", starting, "continue", state.ActionContinue, 0},
		{"nothing left, checks pass", func(f *scene) { starting(f); done(f); passing(f) }, "plan_complete", state.ActionStop, 0},

		{"first claim with open tasks", func(f *scene) { claim(f, 1) }, "claimed_incomplete", state.ActionContinue, 0},
		{"second claim with open tasks", func(f *scene) { claim(f, 2) }, "claimed_incomplete", state.ActionStop, 8},
		{"second claim while the breaker is open", func(f *scene) { claim(f, 2); open(f, func(b *state.Breaker) { b.NoProgress = 3 }) }, "claimed_incomplete", state.ActionStop, 8},
		{"second claim with a red check and no work", func(f *scene) {
			done(f)
			failing(f)
			claim(f, 2)
			f.It.Work.Change = git.Change{}
			f.It.Work.Before = f.It.Proof.After
		}, "claimed_incomplete", state.ActionStop, 8},
		{"second claim with a red check, but it works on it", func(f *scene) { done(f); failing(f); claim(f, 2) }, "gate_failed", state.ActionRetry, 0},

		{"third test-only iteration", func(f *scene) { f.Memory.TestOnly = 3 }, "test_saturation", state.ActionStop, 3},
		{"second test-only iteration", func(f *scene) { f.Memory.TestOnly = 2 }, "continue", state.ActionContinue, 0},

		{"breaker opened by stagnation", func(f *scene) { open(f, func(b *state.Breaker) { b.NoProgress = 3 }) }, "stagnation", state.ActionStop, 3},
		{"breaker opened by the same error", func(f *scene) { open(f, func(b *state.Breaker) { b.SameError = 5 }) }, "same_error", state.ActionStop, 3},
		{"breaker opened by ever shorter answers", func(f *scene) {
			open(f, func(b *state.Breaker) { b.NoProgress, b.OutputSizes = 2, []int{1000, 500, 100} })
		}, "output_decline", state.ActionStop, 3},
		{"the agent went in circles", func(f *scene) { outcome(f, ending.Repeating) }, "repeating", state.ActionContinue, 0},
		{"breaker half open", func(f *scene) { f.Memory.Breaker = state.Breaker{State: state.BreakerHalfOpen, NoProgress: 2} }, "continue", state.ActionContinue, 0},
		{"breaker open from an earlier run", func(f *scene) { starting(f); open(f, func(*state.Breaker) {}) }, "stagnation", state.ActionStop, 3},

		{"iterations used up", func(f *scene) { f.Policy.MaxIterations = 1 }, "ceilings", state.ActionStop, 4},
		{"an iteration left", func(f *scene) { f.Policy.MaxIterations = 2 }, "continue", state.ActionContinue, 0},
		{"time used up", func(f *scene) { f.Policy.MaxDuration = time.Hour }, "ceilings", state.ActionStop, 4},
		{"time left", func(f *scene) { f.Policy.MaxDuration = time.Hour + 1 }, "continue", state.ActionContinue, 0},
		{"the end of its hours has come", func(f *scene) { f.End = noon }, "ceilings", state.ActionStop, 4},
		{"the end of its hours has not come", func(f *scene) { f.End = noon.Add(1) }, "continue", state.ActionContinue, 0},
		{"usage limit, reset after the end of its hours", func(f *scene) {
			outcome(f, ending.UsageLimit)
			f.LimitedUntil, f.End = noon.Add(2*time.Hour), noon.Add(time.Hour)
		}, "usage_limit", state.ActionStop, 7},
		{"a call may cross the line of PACE", func(f *scene) { starting(f); f.Paced.Until = noon.Add(time.Hour) }, "pace", state.ActionWait, 0},
		{"money used up", func(f *scene) { f.Policy.MaxCost = 2; f.Memory.Usage.CostUSD = 2 }, "ceilings", state.ActionStop, 4},
		{"money left", func(f *scene) { f.Policy.MaxCost = 2; f.Memory.Usage.CostUSD = 1.99 }, "continue", state.ActionContinue, 0},

		{"calls of the hour used up", func(f *scene) { starting(f); f.Calls.Calls = 100 }, "hourly", state.ActionWait, 0},
		{"a call left", func(f *scene) { starting(f); f.Calls.Calls = 99 }, "continue", state.ActionContinue, 0},
		{"calls used up, time over before the hour", func(f *scene) {
			starting(f)
			f.Calls.Calls, f.Policy.MaxDuration = 100, 80*time.Minute
		}, "hourly", state.ActionStop, 4},
		{"calls used up, time over after the hour", func(f *scene) {
			starting(f)
			f.Calls.Calls, f.Policy.MaxDuration = 100, 100*time.Minute
		}, "hourly", state.ActionWait, 0},
		{"tokens of the hour used up", func(f *scene) { starting(f); f.Policy.TokensPerHour = 10; f.Calls.Tokens = 10 }, "hourly", state.ActionWait, 0},
		{"tokens left", func(f *scene) { starting(f); f.Policy.TokensPerHour = 10; f.Calls.Tokens = 9 }, "continue", state.ActionContinue, 0},
	}
	covered := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := usual()
			tt.set(&f)
			d := f.decide()
			if d.Rule != tt.rule || d.Action != tt.act || d.Exit != tt.exit {
				t.Errorf("Decide() = %s %s exit %d (%s), want %s %s exit %d", d.Rule, d.Action, d.Exit, d.Reason, tt.rule, tt.act, tt.exit)
			}
			if d.Action == state.ActionStop && (d.Status == "" || d.ExitReason == "" && d.Rule != "interrupted" || d.Reason == "" && d.Rule != "interrupted") {
				t.Errorf("a stop without status, exit reason or reason: %+v", d)
			}
			if f.Memory.Breaker.State == state.BreakerOpen && strings.Contains(strings.Replace(d.Next, "ralph reset --circuit && ralph resume", "", 1), "ralph resume") {
				t.Errorf("the next run halts at once after %q", d.Next)
			}
		})
		covered[tt.rule] = true
	}
	documented(t, AdmitRules(), covered)
	documented(t, ConcludeRules(), covered)
}

func documented[F any](t *testing.T, table []Rule[F], covered map[string]bool) {
	for _, r := range table {
		if !covered[r.Name] {
			t.Errorf("rule %q has no test", r.Name)
		}
		if r.When == "" || r.Then == "" {
			t.Errorf("rule %q is not documented", r.Name)
		}
	}
}

func TestRules_auth_namesWhatWasHeldBack(t *testing.T) {
	for _, test := range []struct {
		class      ending.Class
		held       []string
		said, want string // want is empty: nothing of what was withheld
	}{
		{ending.Auth, []string{"CORP_API_KEY", "NPM_TOKEN"}, "",
			"; ralph withheld CORP_API_KEY, NPM_TOKEN from it; let the one that it needs pass, such as ENV_EXCLUDE='!CORP_API_KEY'; "},
		{ending.Auth, []string{"GROQ_API_KEY", "NPM_TOKEN"}, "missing environment variable: GROQ_API_KEY",
			"; ralph withheld GROQ_API_KEY, NPM_TOKEN from it; let the one that it needs pass, such as ENV_EXCLUDE='!GROQ_API_KEY'; "},
		{ending.Auth, []string{"NPM_TOKEN"}, "please log in", "; ralph withheld NPM_TOKEN from it; let the one that it needs pass, such as ENV_EXCLUDE='!NPM_TOKEN'; "},
		{ending.Auth, nil, "", ""},
		{ending.NoCredit, []string{"CORP_API_KEY", "NPM_TOKEN"}, "", ""},
	} {
		f := usual()
		outcome(&f, test.class)
		f.It.Call.Withheld, f.It.Call.Outcome.Evidence = test.held, test.said
		if d := f.decide(); !strings.Contains(d.Next, test.want) || strings.Contains(d.Next, "withheld") != (test.want != "") {
			t.Errorf("%s, %q: next is %q", test.class, test.held, d.Next)
		}
	}
}

func TestRules_hourly_waitsToTheNextHour(t *testing.T) {
	f := usual()
	starting(&f)
	f.Calls.Calls = 100
	if d := f.decide(); !d.Until.Equal(pace.HourOf(noon).Add(time.Hour)) {
		t.Errorf("waits until %s", d.Until)
	}
}

func TestRules_denied_namesCommandAndEntry(t *testing.T) {
	f := usual()
	f.It.Call.Denied, f.It.Call.Advice = []state.Tool{{Name: "Bash", Arg: "npm test"}}, []string{"add Bash(npm test:*)"}
	open(&f, func(b *state.Breaker) { b.PermissionDenials = 2 })
	d := f.decide()
	if !strings.Contains(d.Reason, "Bash(npm test): add Bash(npm test:*)") {
		t.Errorf("reason %q names neither", d.Reason)
	}
	allow := d.Next
	f = usual()
	starting(&f)
	open(&f, func(b *state.Breaker) { b.PermissionDenials = 2 })
	if d = f.decide(); d.Rule != state.RuleStagnation || d.Next != allow {
		t.Errorf("at the next start, %s: %q, want %q", d.Rule, d.Next, allow)
	}
}

func TestRules_breakerOpenedWhileACheckFails_namesTheCheck(t *testing.T) {
	f := usual()
	failing(&f)
	open(&f, func(b *state.Breaker) { b.NoProgress = 3 })
	if d := f.decide(); d.Next != "see why the check test fails: ralph check; then: ralph reset --circuit && ralph resume" {
		t.Errorf("next: %s", d.Next)
	}
}

func TestRules_halt_namesTheCommandForItsCase(t *testing.T) {
	const reopened = "ralph reset --circuit && ralph resume"
	for name, test := range map[string]struct {
		set  func(*scene)
		want string
	}{
		"the agent emptied files again": {func(f *scene) { f.Damaged, f.Memory.Damages = []string{"a"}, 2 },
			"see what did it: ralph iterations 1; tell the agent: ralph note TEXT; then: ralph resume"},
		"the audit halts": {func(f *scene) {
			f.Policy.AntiCheat, f.It.Proof.Findings = turn.AnswerHalt, []audit.Finding{{Text: "a test is gone"}}
		}, "see what it found: ralph diff 1; then: ralph resume"},
		"calls take too long": {func(f *scene) {
			f.It.Call.Outcome.Class = ending.TimeoutWithWork
			open(f, func(b *state.Breaker) { b.NoProgress = 3 })
		}, "see what the agent did: ralph iterations 1; then: " + reopened + " --timeout MINUTES"},
		"calls are silent": {func(f *scene) {
			f.It.Call.Outcome.Class = ending.TimeoutIdle
			open(f, func(b *state.Breaker) { b.NoProgress = 3 })
		}, "see what the agent did: ralph iterations 1; then: " + reopened + " --idle-timeout MINUTES"},
		"calls crash": {func(f *scene) {
			f.It.Call.Outcome.Class = ending.Crash
			open(f, func(b *state.Breaker) { b.NoProgress = 3 })
		}, "see what the agent did: ralph iterations 1; then: " + reopened},
		"only tests": {func(f *scene) { f.Memory.TestOnly, f.It.Task.ID = 3, "7" },
			"ralph task done 7, if nothing is left to do; else ralph note TEXT; then: ralph resume"},
	} {
		f := usual()
		test.set(&f)
		if d := f.decide(); d.Exit != state.ExitHalted || d.Next != test.want {
			t.Errorf("%s: exit %d, next: %q, want %q", name, d.Exit, d.Next, test.want)
		}
	}
}

func TestRules_refusedClaim_tellsTheAgentWhy(t *testing.T) {
	f := usual()
	claim(&f, 1)
	if d := f.decide(); !strings.Contains(d.Refused, "2 of 3 tasks are open") {
		t.Errorf("refused because %q", d.Refused)
	}
}

func TestRetryDelay_growsAndIsBounded(t *testing.T) {
	if got := doubled(5*time.Second, 1); got != 5*time.Second {
		t.Errorf("first delay %s", got)
	}
	for i := 1; i < 100; i++ {
		if a, b := doubled(5*time.Second, i), doubled(5*time.Second, i+1); b < a || b > 10*time.Minute {
			t.Errorf("delay %d is %s after %s", i+1, b, a)
		}
	}
}

func TestTasksAre_oneOrMany_isGrammar(t *testing.T) {
	for want, got := range map[string]string{
		"1 of 1 task is open": tasksAre(1, 1, "open"), "1 of 3 tasks is open": tasksAre(1, 3, "open"), "2 of 3 tasks are done": tasksAre(2, 3, "done"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// stuckTask is a second idle turn of a task beside which another one is open.
func stuckTask(f *scene) {
	f.It.Task, f.Another = task.Task{ID: "T1", Title: "one"}, true
	f.Memory.Breaker = state.Breaker{State: state.BreakerHalfOpen, NoProgress: 2}
}
