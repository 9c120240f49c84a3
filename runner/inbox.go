package runner

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"syscall"
	"time"

	"ralph/logs"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

const (
	beat       = 250 * time.Millisecond // how soon a request is seen
	statusBeat = time.Second            // how often status.json is refreshed
)

// inbox holds the requests of people (pause, skip, stop, ...) until the run
// answers them. Safe for concurrent use.
type inbox struct {
	wake chan struct{} // gets a value when a request arrives

	mu      sync.Mutex
	pending []state.Request
	cancel  context.CancelCauseFunc // of the running turn; nil: none
	err     error                   // why state cannot be written any more
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// fail ends the running turn: without its state ralph must not spend money.
func (in *inbox) fail(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = err
	}
	if in.cancel != nil {
		in.cancel(err)
	}
}

func (in *inbox) broken() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

func (in *inbox) add(requests []state.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, q := range requests {
		if q == state.RequestResume { // whoever wants it to go on does not want it to end
			in.pending = slices.DeleteFunc(in.pending, func(p state.Request) bool { return p == state.RequestStop })
		}
		in.pending = append(in.pending, q)
		if in.cancel != nil && (q == state.RequestSkip || q == state.RequestAbort) {
			in.cancel(&turn.Stopped{By: q})
		}
	}
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// put puts a request back that was not answered.
func (in *inbox) put(q state.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending = append(in.pending, q)
}

func (in *inbox) has(q state.Request) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Contains(in.pending, q)
}

// take removes all requests of a kind; empty: there was none.
func (in *inbox) take(kind state.Request) state.Request {
	in.mu.Lock()
	defer in.mu.Unlock()
	before := len(in.pending)
	in.pending = slices.DeleteFunc(in.pending, func(q state.Request) bool { return q == kind })
	if len(in.pending) == before {
		return ""
	}
	return kind
}

// takePause removes pauses and resumes, and is true when the latest was a pause.
func (in *inbox) takePause() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	paused := false
	in.pending = slices.DeleteFunc(in.pending, func(q state.Request) bool {
		if q == state.RequestPause || q == state.RequestResume {
			paused = q == state.RequestPause
			return true
		}
		return false
	})
	return paused
}

// asked is the request that the end of the iteration answers; empty: none.
func (in *inbox) asked() (q state.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.pending {
		switch {
		case p == state.RequestStop || p == state.RequestPause && q != state.RequestStop:
			q = p
		case p == state.RequestResume && q == state.RequestPause:
			q = ""
		}
	}
	return q
}

// callContext can also be ended by a request. The func gives it up.
func (in *inbox) callContext(ctx context.Context) (context.Context, func()) {
	call, cancel := context.WithCancelCause(ctx)
	in.mu.Lock()
	in.cancel = cancel
	if slices.Contains(in.pending, state.RequestAbort) {
		cancel(&turn.Stopped{By: state.RequestAbort})
	}
	in.mu.Unlock()
	return call, func() {
		in.mu.Lock()
		in.cancel = nil
		in.mu.Unlock()
		cancel(nil)
	}
}

// interrupt is a person's wish to end the run: a signal, abort or stop; nil: none.
func (r *Run) interrupt(ctx context.Context) *rules.Interrupt {
	switch {
	case r.inbox.has(state.RequestAbort): // before signals: a service manager resumes a run that SIGTERM ended
		return &rules.Interrupt{Exit: rules.ExitInterrupted, ExitReason: "aborted", Why: "ralph abort"}
	case ctx.Err() != nil:
		if i := (*rules.Interrupt)(nil); errors.As(context.Cause(ctx), &i) {
			return i
		}
		return &rules.Interrupt{Exit: rules.ExitInterrupted, ExitReason: "interrupted", Why: context.Cause(ctx).Error()}
	case r.inbox.has(state.RequestStop):
		return &rules.Interrupt{Exit: rules.ExitInterrupted, ExitReason: "interrupted", Why: "ralph stop"}
	}
	return nil
}

// watch reads requests and refreshes status.json until the returned func is
// called, which waits for it to end.
func (r *Run) watch() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		last := time.Now()
		for {
			select {
			case <-quit:
				return
			case now := <-ticker.C:
				if r.readRequests() || now.Sub(last) >= statusBeat {
					r.refresh()
					last = now
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

// readRequests holds on to the lock and is true when there were requests.
func (r *Run) readRequests() bool {
	if err := r.d.State.HoldLock(); err != nil && !gone(err) {
		r.inbox.fail(err)
	}
	requests, err := r.d.State.TakeRequests()
	if err != nil {
		r.d.Log.Warn("requests unreadable", logs.KeyError, err)
	}
	for _, q := range requests {
		r.d.Log.Info("request", "request", q)
	}
	if len(requests) > 0 {
		r.inbox.add(requests)
	}
	return len(requests) > 0
}

// refresh writes status.json. An agent may have deleted the state directory, or
// put a file in its place: that is repaired after the call. Anything else that
// keeps state from disk ends the run.
func (r *Run) refresh() {
	asked := r.inbox.asked()
	r.out.status(func(s *state.Status) { s.Pending = asked })
	if err := r.out.save(); err != nil && !gone(err) {
		r.inbox.fail(err)
	}
	r.out.flush()
}

// gone is true when the state directory is not there.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// pause waits for ralph resume, or for a wish to end.
func (r *Run) pause(ctx context.Context) error {
	r.out.status(func(s *state.Status) {
		s.Status, s.Phase, s.LastAction, s.Pending = state.StatusPaused, "paused", "paused by ralph pause", ""
	})
	r.tell(state.Paused{})
	err := r.sleep(ctx, time.Time{}, rules.Decision{Action: rules.ActionWait, Rule: "paused", Reason: "ralph pause"})
	if ctx.Err() != nil { // a signal is no answer to the pause
		r.inbox.put(state.RequestPause)
	}
	return err
}

// wait sleeps until the decision's time. A resume request ends it early.
func (r *Run) wait(ctx context.Context, d rules.Decision) error {
	if time.Until(d.Until) <= 0 {
		return nil
	}
	if r.inbox.takePause() { // a resume from before this wait is not for it
		r.inbox.put(state.RequestPause)
	}
	r.out.status(func(s *state.Status) {
		if d.Action == rules.ActionWait || d.Rule == "transient" {
			s.Status, s.WakeAt = state.StatusWaiting, d.Until
		}
		s.Phase, s.Rule, s.Reason = "waiting", d.Rule, d.Reason
		s.LastAction = "waiting: " + d.Rule
	})
	return r.sleep(ctx, d.Until, d)
}

// sleep waits for the wall clock: a machine that was suspended wakes up late,
// and a timer of the process would then still wait for the rest. A pause, which
// is reckoned from its beginning, also ends when its time has passed: the clock
// may have been set back.
func (r *Run) sleep(ctx context.Context, until time.Time, d rules.Decision) error {
	if err := r.out.save(); err != nil {
		return err
	}
	r.worker.Forget() // people edit while ralph waits
	for n := 0; r.interrupt(ctx) == nil; n++ {
		left := time.Until(until.Round(0)).Round(time.Second)
		if now := time.Now(); !until.IsZero() && (!now.Before(until) || !now.Round(0).Before(until.Round(0))) {
			break
		}
		if r.inbox.take(state.RequestResume) != "" {
			r.inbox.take(state.RequestPause)
			if d.Rule == "usage_limit" {
				clear(r.crew.limits)
			}
			break
		}
		if n%4 == 0 && r.d.Tick != nil {
			r.d.Tick(left, d)
		}
		r.nap(ctx, until)
		if err := r.inbox.broken(); err != nil {
			return err
		}
	}
	r.out.status(func(s *state.Status) {
		s.Status, s.WakeAt, s.LastAction = state.StatusRunning, time.Time{}, "continuing after a wait"
	})
	return nil
}

// nap sleeps for a beat, or until something arrives.
func (r *Run) nap(ctx context.Context, until time.Time) {
	short := beat
	if !until.IsZero() {
		short = min(beat, max(time.Until(until), time.Millisecond))
	}
	timer := time.NewTimer(short)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.inbox.wake:
	case <-ctx.Done():
	}
}
