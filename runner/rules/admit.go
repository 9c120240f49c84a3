package rules

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state"
)

// Admit says whether another turn may start.
func Admit(f Admission) Decision { return first(AdmitRules(), f) }

// AdmitRules is the table that Admit asks. Ordered: the first match wins.
func AdmitRules() []Rule[Admission] {
	return []Rule[Admission]{
		{state.RuleInterrupted, "signal, `ralph abort`", "stop 130, or 143 after SIGTERM and SIGHUP", func(f Admission) (Decision, bool) {
			return interrupted(f.Facts), f.Interrupt.Now()
		}},
		{state.RuleContinue, "the plan has nothing left, but a person skipped the checks that would prove it",
			"the checks run again before the run can end", func(f Admission) (Decision, bool) {
				return Decision{Action: state.ActionContinue}, f.Unchecked
			}},
		{state.RuleReview, "as `plan_complete`, but a person has to look at something",
			"stop 9 without a call, and name it", func(f Admission) (Decision, bool) {
				return reviewed(planComplete(f), f.Review), f.complete() && len(f.Review) > 0
			}},
		{state.RuleComplete, "as `complete` after the latest turn, and with `LAND=pr` the checks of the pull request pass",
			"stop 0 without a call", func(f Admission) (Decision, bool) {
				return completed(f.Ends, "project_complete", f.Report), f.Claimed && f.complete()
			}},
		{state.RuleHook, "a hook says that the run is complete, and the required checks pass where there are any",
			"stop 0 without a call, or 9 as `review`", func(f Admission) (Decision, bool) {
				return planComplete(f), f.Ends != "" && f.complete()
			}},
		{state.RulePlanComplete,
			"the plan has nothing left, the required checks pass where there are any, and no verifying turn is due",
			"stop 0 without a call", func(f Admission) (Decision, bool) { return planComplete(f), f.complete() }},
		{state.RuleInterrupted, "`ralph stop`", "stop 130", func(f Admission) (Decision, bool) {
			return interrupted(f.Facts), f.Interrupt != nil
		}},
		{state.RuleQuestion, "nothing can be done until a person answers the agents' questions",
			"wait `QUESTION_WAIT`, then stop 9 and name them", unanswered},
		{state.RulePlanUnusable, "the plan is gone, broken or empty, or every open task waits for one that cannot be done",
			"stop 2", planUnusable},
		{state.RuleTasksPutAside, "every open task was put aside, or waits for a person",
			"stop 8 and name them", tasksPutAside},
		{state.RuleBlocked,
			"every open task is blocked, or waits for a blocked task",
			"stop 9 and name them", blocked},
		{state.RuleStagnation, "the circuit breaker is open because nothing changed", "stop 3",
			breakerStillOpen(state.RuleStagnation, "stagnation_detected")},
		{state.RuleSameError, "the circuit breaker is open because of the same error", "stop 3",
			breakerStillOpen(state.RuleSameError, "same_error")},
		{state.RuleOutputDecline, "the circuit breaker is open because answers kept getting shorter", "stop 3",
			breakerStillOpen(state.RuleOutputDecline, "output_decline")},
		{state.RuleCeilings, whenCeilings, "stop 4", admits(ceilings)},
		{state.RuleUsageLimit, "every agent that may work is under a usage limit",
			"wait for the reset, or stop 7", stillLimited},
		{state.RulePace,
			"a call might use more of a usage window than `PACE` allows, and no other agent may work",
			"wait; stop 7 as for a usage limit; `ralph resume` continues now", paced},
		{state.RuleHourly, "the calls or tokens of this clock hour are used up",
			"wait for the next hour; stop 4 when `MAX_DURATION` or `UNTIL` ends before it", admits(hourly)},
		{state.RuleGateFailed, "the plan has nothing left, but a required check fails, and agents still try to repair it if it was red before the run",
			"continue, with the failure in the prompt; stop 8 at a check with `on_failure: stop`", lastCheckFailed},
		{state.RuleVerify, "the plan has nothing left, but the agent's last message contradicts it",
			"one verifying turn", func(f Admission) (Decision, bool) {
				d := verifying(f.Facts)
				d.Action = state.ActionContinue
				return d, f.contradicted()
			}},
		{state.RuleContinue, "otherwise", "start the next iteration", func(Admission) (Decision, bool) {
			return Decision{Action: state.ActionContinue}, true
		}},
	}
}

// interrupted ends the run.
func interrupted(f Facts) Decision {
	if f.Interrupt == nil {
		return Decision{}
	}
	return stopped(f.Interrupt.Exit, f.Interrupt.ExitReason, f.Interrupt.Why, "to continue: ralph resume")
}

func unanswered(f Admission) (Decision, bool) {
	if len(f.Waiting) == 0 || f.Plan.Error != "" {
		return Decision{}, false
	}
	until := f.WaitingSince.Add(f.Policy.QuestionWait)
	if left := f.timeLeft(); until.Sub(f.Now) > left {
		until = f.Now.Add(left)
	}
	if f.over() { // an answer would come too late
		until = f.Now
	}
	reason := "nothing can be done before a person answers " + strings.Join(f.Waiting, "; ")
	if f.Now.Before(until) {
		return Decision{Action: state.ActionWait, Reason: reason, Until: until}, true
	}
	id, _, _ := strings.Cut(f.Waiting[0], ":")
	return stopped(state.ExitReview, "questions", reason,
		fmt.Sprintf("ralph answer %s TEXT (ralph questions shows all), then: ralph resume", id)), true
}

func planUnusable(f Admission) (Decision, bool) {
	wrong := slices.Concat(f.Plan.List.Faults, f.Never)
	if len(f.Never) > 0 || len(f.Blocked) > 0 && len(wrong) > 0 {
		reason := "no open task can start: each one depends on a task that is blocked, missing or waiting for it: " +
			strings.Join(wrong, ", ")
		return unusablePlan(reason + f.others()), true
	}
	return planBroken(f.Facts)
}

// others is the end of a reason: what else keeps open tasks from starting.
func (f Admission) others() (text string) {
	if held, _ := f.blocked(); held != "" {
		text = "; blocked: " + held
	}
	if len(f.PutAside) > 0 {
		text += "; put aside: " + strings.Join(f.PutAside, "; ")
	}
	return text
}

// blocked describes the tasks that somebody has blocked, and lists their ids.
func (f Admission) blocked() (texts, ids string) {
	var all, each []string
	for _, t := range f.Blocked {
		all, each = append(all, t.ID+" "+t.Title), append(each, t.ID)
	}
	const most = 5
	return termtext.Some(all, most), strings.Join(each[:min(most, len(each))], " ")
}

func blocked(f Admission) (Decision, bool) {
	texts, ids := f.blocked()
	return stopped(state.ExitReview, state.RuleBlocked, "every open task waits for a person: "+texts,
		"when it may begin: ralph task reopen "+ids+"; then: ralph resume"), len(f.Blocked) > 0
}

// planBroken is the part of plan_unusable that both tables use.
func planBroken(f Facts) (Decision, bool) {
	switch {
	case f.Plan.Error != "":
		return unusablePlan(f.Plan.Error), true
	case f.HadPlan && f.Plan.Total == 0:
		return unusablePlan("the plan has no tasks any more"), true
	}
	return Decision{}, false
}

func unusablePlan(reason string) Decision {
	return Decision{Action: state.ActionStop, Reason: reason, Exit: state.ExitUsage, ExitReason: "plan_unusable",
		Status: state.StatusFailed, Next: "fix the plan, then: ralph resume"}
}

func tasksPutAside(f Admission) (Decision, bool) {
	if len(f.PutAside) == 0 {
		return Decision{}, false
	}
	or, held := "", ""
	if texts, _ := f.blocked(); texts != "" {
		or, held = " or is blocked", "; blocked: "+texts
	}
	// No claim of completion here, in spite of the exit code: each open task is stuck for its own reason.
	return stopped(state.ExitClaimed, "stagnation_detected",
		"every open task was put aside"+or+": "+strings.Join(f.PutAside, "; ")+held,
		"change these tasks in the plan, or give them another chance with: ralph reset --tasks; "+
			"then: ralph resume"), true
}

func (f Admission) complete() bool {
	return (f.Ends != "" || f.nothingLeft()) && !f.Report.Blocked() && !f.contradicted() && !f.mends(f.Report)
}

func planComplete(f Admission) Decision {
	if f.Ends != "" {
		return completed(f.Ends+" ("+tasksAre(f.Plan.Done, f.Plan.Total, "done")+")", "plan_complete", f.Report)
	}
	return completed("the plan has nothing left: "+tasksAre(f.Plan.Done, f.Plan.Total, "done")+
		f.Plan.List.OthersOpen(), "plan_complete", f.Report)
}

// breakerStillOpen matches a breaker that an earlier iteration or run opened.
func breakerStillOpen(rule, exitReason string) func(Admission) (Decision, bool) {
	return func(f Admission) (Decision, bool) {
		b := f.Memory.Breaker
		if b.State != state.BreakerOpen || openedBy(b, f.Policy) != rule {
			return Decision{}, false
		}
		d := f.halt(fmt.Sprintf("the circuit breaker is open since %s (%s) and cools down until %s",
			b.OpenedAt.Local().Format("15:04"), b.Reason, b.OpenedAt.Add(f.Policy.Cooldown).Local().Format("15:04")),
			exitReason)
		if openRule(b, f.Policy) == state.RulePermissionDenied {
			d.Next = allow
		}
		return d, true
	}
}

func stillLimited(f Admission) (Decision, bool) {
	return waitForLimit(f.Facts, "the usage limit that an earlier call met is not over"), f.Now.Before(f.LimitedUntil)
}

func paced(f Admission) (Decision, bool) {
	f.LimitedUntil = f.Paced.Until
	return waitForLimit(f.Facts, f.Paced.Reason), f.Paced.Held()
}

func lastCheckFailed(f Admission) (Decision, bool) {
	report := f.Report
	if f.mends(report) {
		report = report.AtEnd()
	}
	return failedCheck(checkFailure{Report: report}), report.Blocked()
}
