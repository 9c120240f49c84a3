package rules

import (
	"context"
	"errors"

	"ralph/runner/inbox"
	"ralph/state"
)

// StopRequest is the signal or request by which a person wants to end the run; nil: none.
func StopRequest(ctx context.Context, in *inbox.Inbox) *Interrupt {
	switch {
	case in.Has(state.RequestAbort): // before signals: a service manager resumes a run that SIGTERM ended
		return &Interrupt{Exit: state.ExitInterrupted, ExitReason: "aborted", Why: in.Who(state.RequestAbort)}
	case ctx.Err() != nil:
		if i := (*Interrupt)(nil); errors.As(context.Cause(ctx), &i) {
			return i
		}
		return &Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: context.Cause(ctx).Error()}
	case in.Has(state.RequestStop):
		return &Interrupt{Exit: state.ExitInterrupted, ExitReason: "interrupted", Why: in.Who(state.RequestStop),
			Lenient: true}
	}
	return nil
}
