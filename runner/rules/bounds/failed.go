package bounds

import (
	"errors"

	"ralph/runner/rules"
	"ralph/state"
)

// Failed ends a run because of an error of ralph itself.
func Failed(err error) rules.Decision {
	d := rules.Decision{Action: rules.ActionStop, Rule: "error", Reason: err.Error(), Exit: rules.ExitError,
		ExitReason: "error", Status: state.StatusFailed, Next: "fix that (.ralph/logs/ralph.log may say more), then: ralph resume"}
	if locked := (*state.LockedError)(nil); errors.As(err, &locked) {
		d.Exit, d.Next = rules.ExitLocked, "watch the other one: ralph monitor"
	}
	return d
}

// Unusable ends the run because of something that a person has to fix.
func Unusable(err error) rules.Decision {
	return rules.Decision{Action: rules.ActionStop, Rule: "plan_unusable", Reason: err.Error(), Exit: rules.ExitUsage,
		ExitReason: "plan_unusable", Status: state.StatusFailed, Next: "fix the prompt or the plan, then: ralph resume"}
}
