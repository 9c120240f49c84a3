package bounds

import (
	"context"
	"errors"

	"ralph/runner/inbox"
	"ralph/runner/rules"
	"ralph/state"
)

// Wish is the signal or request by which a person wants to end the run; nil: none.
func Wish(ctx context.Context, in *inbox.Inbox) *rules.Interrupt {
	switch {
	case in.Has(state.RequestAbort): // before signals: a service manager resumes a run that SIGTERM ended
		return &rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "aborted", Why: in.Who(state.RequestAbort)}
	case ctx.Err() != nil:
		if i := (*rules.Interrupt)(nil); errors.As(context.Cause(ctx), &i) {
			return i
		}
		return &rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: context.Cause(ctx).Error()}
	case in.Has(state.RequestStop):
		return &rules.Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: in.Who(state.RequestStop),
			Lenient: true}
	}
	return nil
}
