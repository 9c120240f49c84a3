// Package stop carries the request of a person to end a turn, and says how much time is left to
// look at what an interrupted call did.
package stop

import (
	"context"
	"errors"
	"time"

	"ralph/state"
)

const (
	// bound is what looking at the workspace may take after a person ended the turn.
	bound = 5 * time.Second
	// most is more than git needs for any tree, and ends one that hangs.
	most = 5 * time.Minute
)

// Stopped is the cause of a context that a person's request ended.
type Stopped struct{ By state.Request }

// Error implements error.
func (s *Stopped) Error() string { return "ralph " + string(s.By) }

// By is the request that ended the context; abort stands for a signal, too. Empty: the
// context is not over.
func By(ctx context.Context) state.Request {
	if ctx.Err() == nil {
		return ""
	}
	if s := (*Stopped)(nil); errors.As(context.Cause(ctx), &s) {
		return s.By
	}
	return state.RequestAbort
}

// Outlast is a context that ends a little after ctx, and in a few minutes: what an
// interrupted call did must still be reported.
func Outlast(ctx context.Context) (context.Context, func()) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(bound, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() { stop(); cancel() }
}
