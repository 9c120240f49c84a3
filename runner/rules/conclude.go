package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/runner/audit"
	"ralph/runner/gate"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// idleClaims is the number of consecutive turns without a plan that claim completion and change nothing, and so end the run.
const idleClaims = 2

// TestOnlyBound is the number of consecutive test-only iterations.
const TestOnlyBound = 3

// Conclude says what follows from a turn.
func Conclude(f Conclusion) Decision {
	d := first(ConcludeRules(), f)
	if f.Memory.Breaker.State == state.BreakerOpen && !strings.Contains(d.Next, reopen) { // else the next run halts at once
		d.Next = strings.Replace(d.Next, resume, reopen, 1)
	}
	return d
}

// ConcludeRules is the table that Conclude asks. Ordered: the first match wins.
func ConcludeRules() []Rule[Conclusion] {
	return []Rule[Conclusion]{
		{state.RuleInterrupted, "signal, `ralph abort`", "stop 130, or 143 after SIGTERM and SIGHUP", func(f Conclusion) (Decision, bool) {
			return interrupted(f.Facts), f.Interrupt.Now()
		}},
		{state.RuleInterrupted, "`ralph stop`, unless nothing is left to do", "stop 130", func(f Conclusion) (Decision, bool) {
			return interrupted(f.Facts), f.Interrupt != nil && !f.finished()
		}},
		{state.RuleIntegrity, "git can no longer read the repository, or it is not the same one as before the turn",
			"stop 3; the ticks of the turn do not count", func(f Conclusion) (Decision, bool) {
				return LostRepository(f.Result.Work.Lost), f.Result.Work.Lost != ""
			}},
		{state.RuleIntegrity, "the turn left HEAD detached or on another branch, and putting it back would lose something",
			"stop 3; the ticks of the turn do not count", func(f Conclusion) (Decision, bool) {
				d := f.halt(f.Result.Work.Astray, "integrity_failure")
				d.Rule, d.Next = state.RuleIntegrity, "look at git log --all --oneline --graph, check out your branch with what belongs on it, then: ralph resume"
				return d, f.Result.Work.Astray != ""
			}},
		{state.RuleAgentUnusable, "not installed, auth, credit, admin, unknown model or flag",
			"stop 6", agentUnusable},
		pausing(Rule[Conclusion]{state.RuleUsageLimit, "a structured record or the agent CLI's own error text says so",
			"another agent of `FALLBACK_AGENTS`; else wait for the reset, or stop 7, also when the reset is more than a day away or after the end of `MAX_DURATION` or `UNTIL`; costs no iteration", usageLimit}),
		{state.RuleTransient, "429, 5xx, overloaded, network, dropped stream, a session that is gone",
			"retry with a growing delay, a limited number of times; costs no iteration", transient},
		pausing(Rule[Conclusion]{state.RuleIntegrity, "the agent removed or emptied files of `.ralph/` that ralph needs, or the audit found something and `ANTI_CHEAT=halt` is set",
			"restore the files and tell the agent; the second time, or at a finding: stop 3", integrity}),
		{state.RulePlanUnusable, "the plan is gone, broken or empty; or agents left it so, and ralph put it back, in 3 consecutive iterations",
			"stop 2", planBrokenAgain},
		{state.RulePermissionDenied, "denials in `CB_PERMISSION_DENIAL_THRESHOLD` consecutive iterations",
			"stop 3", permissionDenied},
		{state.RuleQuestion, "the agent asks a person something, and its task is not done; at most three turns of a task",
			"the task waits for the answer, the next one runs", asksPerson},
		{state.RuleVerify, "as `complete`, but the turn failed or its status block says BLOCKED or FAILING",
			"one verifying turn", func(f Conclusion) (Decision, bool) {
				return verifying(f.Facts), f.contradicted() && !f.Result.Proof.Report.Blocked() && !f.mends(f.Result.Proof.Report)
			}},
		{state.RuleComplete, "as `complete`, but with `LAND=pr` the checks of the pull request come first",
			"wait for them before the next call", func(f Conclusion) (Decision, bool) {
				return Decision{Action: state.ActionContinue, Reason: f.proof()}, f.Elsewhere && f.proof() != ""
			}},
		{state.RuleReview, "as `complete`, but [a person has to look at something](problems.md#it-says-review)",
			"stop 9 and name each", func(f Conclusion) (Decision, bool) {
				return reviewed(complete(f), f.Review), f.proof() != "" && len(f.Review) > 0
			}},
		{state.RuleComplete, "the plan has nothing left, no required check fails, and the final message signals completion or there are required checks; without a plan: `COMPLETION_CLAIMS` consecutive signals, or two turns in a row that say that all is done and change nothing",
			"stop 0", func(f Conclusion) (Decision, bool) { return complete(f), f.proof() != "" }},
		{state.RuleClaimedIncomplete, "the final message signals completion and no required check fails, but tasks are open",
			"refuse it in the next prompt; `COMPLETION_CLAIMS` in a row that close no task: stop 8", claimedOpen},
		{state.RuleClaimedIncomplete, "`COMPLETION_CLAIMS` signals of completion in a row, but a required check fails and nothing changed",
			"stop 8", claimedFailing},
		{state.RuleStagnation, "no progress, or a merge or the like left open, in `CB_NO_PROGRESS_THRESHOLD` consecutive iterations", "stop 3", breakerOpened(state.RuleStagnation, "stagnation_detected")},
		{state.RuleSameError, "the same error, or the same failed tool call while no task is closed, in `CB_SAME_ERROR_THRESHOLD` consecutive iterations", "stop 3", breakerOpened(state.RuleSameError, "same_error")},
		{state.RuleOutputDecline, "no progress in 2 iterations, and 3 answers in a row that got shorter, in total by `CB_OUTPUT_DECLINE_THRESHOLD` percent", "stop 3", breakerOpened(state.RuleOutputDecline, "output_decline")},
		{state.RuleGateFailed, "a required check with `on_failure: stop` fails",
			"stop 8; stop 3 when another task was put aside for the same failure", gateStops},
		pausing(Rule[Conclusion]{state.RuleGateFailed, "without a plan, the agent signals completion, but a required check that was red before the run still fails",
			"retry with the failure in the next prompt, until a turn changes nothing or `MAX_RETRIES` turns have tried", redAtEnd}),
		pausing(Rule[Conclusion]{state.RuleTaskAttempts, "`MAX_ITERATIONS_PER_TASK` iterations worked on the task, and it is not done",
			"put the task aside and continue", taskAttempts}),
		pausing(Rule[Conclusion]{state.RuleTaskStuck, "the circuit breaker is half open because of the task, or an error is one short of `CB_SAME_ERROR_THRESHOLD`, and a task that does not depend on it is open",
			"put the task aside until no other one can be worked on, and continue; the circuit breaker counts on", taskStuck}),
		pausing(Rule[Conclusion]{state.RuleGateFailed, "another required check fails, or the merge is refused",
			"retry with the failure in the next prompt; after `MAX_RETRIES` retries put the task aside; stop 3 when another task was put aside for the same failure", gateFailed}),
		{state.RuleTestSaturation, fmt.Sprintf("%d consecutive iterations that only tested", TestOnlyBound), "stop 3", testSaturation},
		{state.RulePlanComplete, "the plan has nothing left, but nothing proves it yet",
			"check again before the next call", func(f Conclusion) (Decision, bool) { return checkAgain(f), f.nothingLeft() }},
		{state.RuleCeilings, whenCeilings, "stop 4", ceilingAfter},
		pausing(Rule[Conclusion]{state.RuleRepeating, "the agent repeated itself until ralph ended its call",
			"next iteration, in a fresh context; the circuit breaker counts it", repeating}),
		pausing(Rule[Conclusion]{state.RuleContinue, "otherwise", "next iteration", func(f Conclusion) (Decision, bool) {
			return Decision{Action: state.ActionContinue, Reason: remark(f)}, true
		}}),
	}
}

func repeating(f Conclusion) (Decision, bool) {
	o := f.Result.Call.Outcome
	return Decision{Action: state.ActionContinue, Reason: o.Reason}, o.Class == ending.Repeating
}

// LostRepository ends a run whose repository is gone: its work can no longer be proved.
func LostRepository(why string) Decision {
	d := Facts{}.halt(why, "integrity_failure")
	d.Rule, d.Next = state.RuleIntegrity,
		"bring the repository back (a copy of .git, or a fresh clone beside it), then: ralph resume"
	return d
}

func agentUnusable(f Conclusion) (Decision, bool) {
	call, name := f.Result.Call, f.Result.Agent
	d := Decision{Action: state.ActionStop, Exit: state.ExitAgent, ExitReason: "agent_unusable", Status: state.StatusFailed}
	switch {
	case call.NotStarted != "":
		d.Reason, d.Next = call.NotStarted, "install or mend the program of the agent "+name+
			", or name another with AGENT_CMD (ralph doctor says more), then: ralph resume"
	case call.Made && KindOf(call.Outcome.Class) == KindUnusable:
		d.Reason, d.Next = seenIn(call.Outcome), remedyFor(call.Outcome, name, call.Withheld)
	default:
		return Decision{}, false
	}
	return d, true
}

func usageLimit(f Conclusion) (Decision, bool) {
	o := f.Result.Call.Outcome
	switch {
	case !f.Result.Call.Made || KindOf(o.Class) != KindLimit:
		return Decision{}, false
	case f.nothingLeft():
		return Decision{Action: state.ActionContinue, Reason: o.Reason + "; the plan has nothing left"}, true
	case f.Fallback != "":
		return Decision{Action: state.ActionRetry, Reason: fmt.Sprintf("%s; %s takes over", o.Reason, f.Fallback)}, true
	}
	reason := seenIn(o)
	if o.ResetsAt.IsZero() {
		reason += "; it names no time of its reset that ralph can read, so the next try is a guess"
	}
	return waitForLimit(f.Facts, reason), true
}

func transient(f Conclusion) (Decision, bool) {
	o := f.Result.Call.Outcome
	switch KindOf(o.Class) {
	case KindStale:
		if f.Memory.Stale { // this is the first refusal: a second one resets Stale
			return Decision{Action: state.ActionRetry, Reason: o.Reason + "; trying once more without the session",
				Until: f.Now}, true
		}
	case KindTransient:
		if f.Memory.Retries > 0 {
			wait := max(doubled(5*time.Second, f.Memory.Retries), o.RetryAfter)
			return Decision{Action: state.ActionRetry, Until: f.Now.Add(wait),
				Reason: fmt.Sprintf("%s; try %d of %d in %s", o.Reason, f.Memory.Retries, MaxRetries,
					wait.Round(time.Second))}, true
		}
	}
	return Decision{}, false
}

func planBrokenAgain(f Conclusion) (Decision, bool) {
	const most = 3
	if f.Memory.BadPlans >= most {
		d := unusablePlan(fmt.Sprintf("the agent left a plan that cannot be used, %d times in a row: %s", most, f.Result.Work.PlanBroken))
		d.Next = "your plan is as it was; tell the agent what to do with it: ralph note TEXT; then: ralph resume"
		return d, true
	}
	return planBroken(f.Facts)
}

func integrity(f Conclusion) (Decision, bool) {
	sure := slices.IndexFunc(f.Result.Proof.Findings, func(x audit.Finding) bool { return !x.Doubt })
	if sure >= 0 && f.Policy.AntiCheat == turn.AnswerHalt {
		d := f.halt("the audit found: "+FindingText(f.Result.Proof.Findings[sure]), "integrity_failure")
		d.Next = fmt.Sprintf("see what it found: ralph diff %d; then: %s", f.Result.Origin.Iteration, resume)
		return d, true
	}
	if len(f.Damaged) == 0 {
		return Decision{}, false
	}
	files := strings.Join(f.Damaged, ", ")
	if f.Memory.Damages > 1 {
		d := f.halt("the agent deleted or emptied files that ralph needs, again: "+files, "integrity_failure")
		d.Next = fmt.Sprintf("see what did it: ralph iterations %d; tell the agent: ralph note TEXT; then: %s", f.Result.Origin.Iteration, resume)
		return d, true
	}
	return Decision{Action: state.ActionRetry,
		Reason: "restored files of .ralph/ that the agent deleted or emptied: " + files}, true
}

func permissionDenied(f Conclusion) (Decision, bool) {
	b, denied := f.Memory.Breaker, f.Result.Call.Denied
	if b.State != state.BreakerOpen || len(denied) == 0 || b.PermissionDenials < f.Policy.DenialThreshold {
		return Decision{}, false
	}
	parts := make([]string, 0, len(denied))
	for i, t := range denied {
		parts = append(parts, fmt.Sprintf("%s(%s): %s", t.Name, t.Arg, f.Result.Call.Advice[i]))
	}
	d := f.halt("denied "+strings.Join(parts, "; "), "permission_denied")
	d.Next = allow
	return d, true
}

// insists is true when the agent has signalled completion often enough.
func (f Conclusion) insists() bool { return f.Memory.Claims >= f.Policy.CompletionClaims }

// answered is true when the call ended well, and nobody cut it off.
func (f Conclusion) answered() bool {
	return f.Result.Call.Outcome.Class.Success() && f.Result.Cut == ""
}

// finished is true when no work is left, proven or not.
func (f Conclusion) finished() bool {
	if f.Plan.Total == 0 {
		return (f.insists() || f.Memory.IdleClaims >= idleClaims) && f.answered() && !f.Result.Proof.Report.Blocked()
	}
	return f.nothingLeft() && !f.contradicted() && !f.Result.Proof.Report.Blocked() && !f.mends(f.Result.Proof.Report)
}

// proof says how it is known that everything is done; empty: it is not known.
func (f Conclusion) proof() string {
	r := f.Result
	switch {
	case !f.finished() || !f.answered():
		return ""
	case f.Plan.Total == 0 && !f.insists():
		return fmt.Sprintf("the agent said %d times in a row that all is done, and changed nothing; there is no plan to compare with",
			f.Memory.IdleClaims)
	case f.Plan.Total == 0:
		return fmt.Sprintf("the agent signalled completion %d times in a row; there is no plan to compare with",
			f.Memory.Claims)
	case r.Claims():
		return tasksAre(f.Plan.Done, f.Plan.Total, "done") + " and the agent's final message says so" +
			f.Plan.List.OthersOpen()
	case r.Checks.Gated():
		return tasksAre(f.Plan.Done, f.Plan.Total, "done") + " and " + proofOf(r.Proof.Report) +
			f.Plan.List.OthersOpen()
	}
	return ""
}

func complete(f Conclusion) Decision {
	if f.Plan.Total == 0 {
		return completed(f.proof(), "project_complete", f.Result.Proof.Report)
	}
	return completed(f.proof(), "plan_complete", f.Result.Proof.Report)
}

// claims is true when the agent signals completion, and no reviewer decides about that.
func (f Conclusion) claims() bool { return f.Result.Claims() && !f.Result.Proof.ToReview }

func claimedOpen(f Conclusion) (Decision, bool) {
	why := tasksAre(f.Plan.Remaining, f.Plan.Total, "open")
	d := Decision{Action: state.ActionContinue, Reason: "the agent says that it is done, but " + why, Refused: why}
	if f.insists() {
		d = insisted(f, why, "ralph resume")
		if i := slices.IndexFunc(f.Plan.List.Tasks, func(t task.Task) bool { return t.Pending() && t.Required() }); i >= 0 {
			d.Next = fmt.Sprintf("ralph task done %s, if the agent is right; else ralph note TEXT, then: ralph resume", f.Plan.List.Tasks[i].ID)
		}
	}
	return d, f.claims() && f.Plan.Remaining > 0 && !f.Result.Proof.Report.Blocked()
}

func claimedFailing(f Conclusion) (Decision, bool) {
	d := insisted(f, "a required check fails: "+failureOf(f.Result).Names(), failureOf(f.Result).Next(resume))
	return d, f.claims() && f.insists() && f.Result.Proof.Report.Blocked() && !f.Result.Progress()
}

func insisted(f Conclusion, but, next string) Decision {
	return stopped(state.ExitClaimed, "claimed_incomplete",
		fmt.Sprintf("the agent said %d times in a row that it is done, but %s", f.Memory.Claims, but), next)
}

// breakerOpened matches a breaker that is open after a turn, if this rule opened it.
func breakerOpened(rule, exitReason string) func(Conclusion) (Decision, bool) {
	return func(f Conclusion) (Decision, bool) {
		b := f.Memory.Breaker
		if b.State != state.BreakerOpen || openedBy(b, f.Policy) != rule {
			return Decision{}, false
		}
		d := f.halt(b.Reason, exitReason)
		if t := f.Result.Task; t.ID != "" && f.Plan.Total > 0 {
			d.Reason += fmt.Sprintf("; the task: %q", t.Title)
			d.Next = strings.Replace(d.Next, theTasks, fmt.Sprintf("the task be done (ralph task show %s)", t.ID), 1)
		}
		if o := f.Result.Call.Outcome; !o.Class.Success() {
			d.Reason += "; the last call: " + seenIn(o)
			d.Next = fmt.Sprintf("see what the agent did: ralph iterations %d; then: %s%s", f.Result.Origin.Iteration, reopen, moreTime(o))
		} else if open := f.Result.Unfinished(); open != "" {
			d.Reason += "; " + open
			d.Next = "look at git status, end what is in progress, then: " + reopen
		} else if said := remark(f); said != "" {
			d.Reason += "; " + said
		}
		if failure := failureOf(f.Result); failure.Report.Blocked() && !failure.Refused() {
			d.Next = failure.Next(reopen)
		}
		return d, true
	}
}

func gateStops(f Conclusion) (Decision, bool) {
	return afterFailedCheck(f), f.Result.Proof.Report.OnFailure() == gate.Stop
}

func gateFailed(f Conclusion) (Decision, bool) {
	return afterFailedCheck(f), f.Result.Proof.Report.Blocked()
}

func redAtEnd(f Conclusion) (Decision, bool) {
	d := failedCheck(checkFailure{Report: f.Result.Proof.Report.AtEnd()})
	d.Refused = d.Reason
	return d, f.Plan.Total == 0 && f.claims() && f.mends(f.Result.Proof.Report)
}

// afterFailedCheck says what follows from a failure; without one, the zero Decision.
func afterFailedCheck(f Conclusion) Decision {
	r := f.Result
	report, failure := r.Proof.Report, failureOf(r)
	if !report.Blocked() {
		return Decision{}
	}
	if slices.Contains(f.Causes, r.ErrorText()) {
		d := f.halt(failure.Again(), "same_error")
		if !failure.Refused() {
			d.Next = failure.Next(resume)
		}
		return d
	}
	d := failedCheck(failure)
	d.Feedback = failure.Feedback(r.Reopened())
	if r.Claims() {
		d.Refused = "a required check fails: " + failure.Names()
	}
	tries := r.Proof.Tries
	if d.Action == state.ActionRetry && r.Task.ID != "" && f.givesUp() {
		d.Action, d.PutAside = state.ActionContinue, true
		d.Feedback = leftBehind(report)
		d.Reason += ", after " + termtext.Counted(tries, "try", "tries")
	}
	return d
}

// taskAttempts gives up a task after MAX_ITERATIONS_PER_TASK turns.
func taskAttempts(f Conclusion) (Decision, bool) {
	r, most := f.Result, f.Policy.MaxPerTask
	if most == 0 || f.Attempts < most || r.Task.ID == "" || f.Plan.IsDone(r.Task.ID) || r.Proof.ToReview {
		return Decision{}, false
	}
	return Decision{Action: state.ActionContinue, PutAside: true, Feedback: leftBehind(r.Proof.Report),
		Reason: "not done after " + termtext.Counted(f.Attempts, "iteration", "iterations")}, true
}

// taskStuck lets another task show whether the agent or the task is stuck. Nobody puts tasks in another order that a person
// has named for the run.
func taskStuck(f Conclusion) (Decision, bool) {
	r, b := f.Result, f.Memory.Breaker
	idle := b.State == state.BreakerHalfOpen && b.NoProgress > 0
	errs := b.SameError > 1 && b.SameError == f.Policy.SameErrorThreshold-1
	if !f.Another || !(idle || errs) || r.Task.ID == "" || f.Plan.IsDone(r.Task.ID) || !f.Plan.List.View.IsZero() || f.givesUp() {
		return Decision{}, false
	}
	why := fmt.Sprintf("the same error in %d consecutive iterations: %s", b.SameError, b.LastError)
	if idle {
		why = fmt.Sprintf("no progress in %d consecutive iterations", b.NoProgress)
	}
	return Decision{Action: state.ActionContinue, PutAside: true, Stuck: true, Reason: why + "; another task comes first",
		Feedback: append(leftBehind(r.Proof.Report), fmt.Sprintf("%q got stuck and is put aside for now. What was begun of it may "+
			"be in these files: leave it as it is, unless a check fails because of it.", r.Task.Title))}, true
}

// givesUp is true when a failed check puts the task aside for good.
func (f Conclusion) givesUp() bool {
	report := f.Result.Proof.Report
	return report.Blocked() && (report.OnFailure() == gate.BlockTask || f.Policy.MaxRetries > 0 && f.Result.Proof.Tries > f.Policy.MaxRetries)
}

// leftBehind tells the agent of the next task which failures the last one left; nil: none.
func leftBehind(report gate.Report) []string {
	if !report.Blocked() {
		return nil
	}
	return []string{"This check failed at the end of a task that was put aside. " +
		"Nothing counts as done until it passes.", report.Feedback()}
}

// failedCheck retries with the failure in the next prompt, or stops where a
// check asks for it.
func failedCheck(f checkFailure) Decision {
	if f.Report.OnFailure() == gate.Stop {
		return stopped(state.ExitClaimed, "claimed_incomplete", f.What(), f.Next(resume))
	}
	return Decision{Action: state.ActionRetry, Reason: f.What(), Feedback: f.Feedback(false)}
}

// tasksAre is "1 of 3 tasks is open".
func tasksAre(n, total int, what string) string {
	are := map[bool]string{true: "is", false: "are"}[n == 1]
	return fmt.Sprintf("%d of %s %s %s", n, termtext.Counted(total, "task", "tasks"), are, what)
}

func testSaturation(f Conclusion) (Decision, bool) {
	d := f.halt(fmt.Sprintf("%d consecutive iterations only tested and finished no task", f.Memory.TestOnly), "test_saturation")
	if id := f.Result.Task.ID; id != "" {
		d.Next = fmt.Sprintf("ralph task done %s, if nothing is left to do; else ralph note TEXT; then: %s", id, resume)
	}
	return d, f.Memory.TestOnly >= TestOnlyBound
}

// checkAgain continues without a call: Admit then says whether the run is complete.
func checkAgain(f Conclusion) Decision {
	why := remark(f)
	if why != "" {
		why += "; "
	}
	return Decision{Action: state.ActionContinue,
		Reason: why + "the plan has nothing left: ralph checks once more before it ends the run"}
}

// ceilingAfter is ceilings for Conclude. After a run of one iteration, the reason also says how it went.
func ceilingAfter(f Conclusion) (Decision, bool) {
	d, ok := ceilings(f.Facts)
	if o := f.Result.Call.Outcome; ok && f.Policy.MaxIterations == 1 && o.Class != "" {
		why := remark(f)
		if why == "" && !o.Class.Success() {
			why = seenIn(o)
		}
		end := map[bool]string{true: "; its task is done", false: "; its task is not done yet"}[f.Plan.IsDone(f.Result.Task.ID)]
		if f.Result.Task.ID == "" {
			end = ""
		}
		d.Reason = strings.TrimSuffix(d.Reason+end+": "+why, ": ")
	}
	return d, ok
}

// remark is what a user should know about an iteration that led to no other decision; empty:
// nothing. A missing status block matters only when no task is open.
func remark(f Conclusion) string {
	c := f.Result.Call
	switch {
	case !c.Outcome.Class.Success(), !c.Signalled && f.Plan.Remaining > 0:
		return ""
	case !c.Signalled:
		return "the final message has no status block, so it does not say that the work is done"
	case c.Signal.Status == statusblock.Blocked:
		return strings.TrimSuffix("the agent says that it is blocked: "+strings.TrimSpace(c.Signal.Recommendation), ": ")
	case c.Signal.Status == statusblock.Error:
		return strings.TrimSuffix("the agent reports an error: "+c.Signal.Recommendation, ": ")
	}
	return ""
}

func asksPerson(f Conclusion) (Decision, bool) {
	return Decision{Action: state.ActionContinue, Reason: "the task waits for a person's answer"},
		len(f.Result.Call.Asks) > 0
}
