package rules

// This file has the decisions of a run that need no table of rules: what happened leaves no choice.

import (
	"errors"

	"ralph/state"
)

// Case is something that happened to a run.
type Case int

// The cases, in the order of Rules.
const (
	CaseNotCalled Case = iota
	CaseConflict
	CaseRetries
	CasePause
	CaseHook
	CaseLost
	CaseUnusable
	CaseLocked
	CaseUnfit
	CaseError
)

// CaseRow is what a run does in a case.
type CaseRow struct {
	Name, When, Then string
	decision         Decision
}

// CaseRules has a row for each Case.
func CaseRules() []CaseRow {
	goOn, failed := Decision{Action: state.ActionContinue},
		Decision{Action: state.ActionStop, Status: state.StatusFailed}
	hook, unusable, locked := failed, failed, failed
	hook.Status, hook.Exit, hook.ExitReason = state.StatusHalted, state.ExitHalted, "hook"
	hook.Next = "look at what the hook says (.ralph/live.log), then: ralph resume"
	unusable.Exit, unusable.ExitReason, unusable.Next = state.ExitUsage, "plan_unusable",
		"fix the prompt or the plan, then: ralph resume"
	failed.Exit, failed.ExitReason, failed.Next = state.ExitError, "error",
		"fix that (.ralph/logs/ralph.log may say more), then: ralph resume"
	unfit := failed
	unfit.Exit, unfit.Next = state.ExitUsage, "fix that, or leave out PARALLEL, FLEET or ISOLATE"
	locked.Exit, locked.ExitReason, locked.Next = state.ExitLocked, "error", "watch the other one: ralph monitor"
	return []CaseRow{
		CaseNotCalled: {state.RuleContinue, "a person ended the turn before its agent was called",
			"next iteration; costs no call", goOn},
		CaseConflict: {state.RuleContinue, "work that reviewers looked at conflicts with what has landed meanwhile",
			"its developer joins both sides", goOn},
		CaseRetries: {state.RuleTransient, "turns run side by side, and all tasks wait for their next try",
			"wait for the first of them", Decision{Action: state.ActionWait}},
		CasePause: {state.RulePaused, "`ralph pause`", "wait for `ralph resume`", Decision{Action: state.ActionWait}},
		CaseHook:  {state.RuleHook, "a hook that blocks ends the run", "stop 3", hook},
		CaseLost: {LostRepository("").Rule, "the repository is gone between two turns", "stop 3",
			LostRepository("")},
		CaseUnusable: {state.RulePlanUnusable,
			"the prompt of the next turn cannot be made: a file of it, or the plan, is not usable", "stop 2", unusable},
		CaseLocked: {state.RuleError, "another run is active in this project", "stop 5", locked},
		CaseUnfit: {state.RuleError, "the project cannot have worktrees, or the fleet cannot be used",
			"stop 2", unfit},
		CaseError: {state.RuleError, "ralph itself failed: a full disk, lost state, a bug", "stop 1", failed},
	}
}

// DecideCase returns the decision of a case. reason is one sentence for people.
func DecideCase(c Case, reason string) Decision {
	row := CaseRules()[c]
	d := row.decision
	d.Rule, d.Reason = row.Name, reason
	return d
}

// DecideError is the decision about an error of ralph itself.
func DecideError(err error) Decision {
	if locked := (*state.LockedError)(nil); errors.As(err, &locked) {
		return DecideCase(CaseLocked, err.Error())
	}
	return DecideCase(CaseError, err.Error())
}
