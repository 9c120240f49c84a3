// Package fixed has the decisions of a run that need no table of rules: what happened leaves no choice.
package fixed

import (
	"errors"

	"ralph/runner/rules"
	"ralph/state"
)

// Case is something that happened to a run.
type Case int

// The cases, in the order of Rules.
const (
	NotCalled Case = iota
	Conflict
	Retries
	Pause
	Hook
	Lost
	Unusable
	Locked
	Unfit
	Error
)

// Row is what a run does in a case.
type Row struct {
	Name, When, Then string
	decision         rules.Decision
}

// Rules has a row for each Case.
func Rules() []Row {
	goOn, failed := rules.Decision{Action: state.ActionContinue},
		rules.Decision{Action: state.ActionStop, Status: state.StatusFailed}
	hook, unusable, locked := failed, failed, failed
	hook.Status, hook.Exit, hook.ExitReason = state.StatusHalted, state.ExitHalted, "hook"
	hook.Next = "look at what the hook says (.ralph/live.log), then: ralph resume"
	unusable.Exit, unusable.ExitReason, unusable.Next = state.ExitUsage, "plan_unusable",
		"fix the prompt or the plan, then: ralph resume"
	failed.Exit, failed.ExitReason, failed.Next = state.ExitError, "error",
		"fix that (.ralph/logs/ralph.log may say more), then: ralph resume"
	unfit := failed
	unfit.Exit, unfit.Next = state.ExitUsage, "fix that, or leave out PARALLEL, WORKERS, FLEET or ISOLATE"
	locked.Exit, locked.ExitReason, locked.Next = state.ExitLocked, "error", "watch the other one: ralph monitor"
	return []Row{
		NotCalled: {state.RuleContinue, "a person ended the turn before its agent was called",
			"next iteration; costs no call", goOn},
		Conflict: {state.RuleContinue, "work that reviewers looked at conflicts with what has landed meanwhile",
			"its developer joins both sides", goOn},
		Retries: {state.RuleTransient, "turns run side by side, and all tasks wait for their next try",
			"wait for the first of them", rules.Decision{Action: state.ActionWait}},
		Pause: {state.RulePaused, "`ralph pause`", "wait for `ralph resume`", rules.Decision{Action: state.ActionWait}},
		Hook:  {state.RuleHook, "a hook that blocks ends the run", "stop 3", hook},
		Lost: {rules.LostRepository("").Rule, "the repository is gone between two turns", "stop 3",
			rules.LostRepository("")},
		Unusable: {state.RulePlanUnusable,
			"the prompt of the next turn cannot be made: a file of it, or the plan, is not usable", "stop 2", unusable},
		Locked: {state.RuleError, "another run is active in this project", "stop 5", locked},
		Unfit: {state.RuleError, "the project cannot have worktrees, or a worker or the fleet cannot be used",
			"stop 2", unfit},
		Error: {state.RuleError, "ralph itself failed: a full disk, lost state, a bug", "stop 1", failed},
	}
}

// Decide returns the decision of a case. reason is one sentence for people.
func Decide(c Case, reason string) rules.Decision {
	row := Rules()[c]
	d := row.decision
	d.Rule, d.Reason = row.Name, reason
	return d
}

// Failed is the decision about an error of ralph itself.
func Failed(err error) rules.Decision {
	if locked := (*state.LockedError)(nil); errors.As(err, &locked) {
		return Decide(Locked, err.Error())
	}
	return Decide(Error, err.Error())
}
