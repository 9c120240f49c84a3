package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"ralph/logs"
	"ralph/runner/rules"
	"ralph/state"
)

const (
	beat       = 250 * time.Millisecond // how soon a request is seen
	statusBeat = time.Second            // how often status.json is refreshed
)

// watch reads requests and refreshes status.json until the returned func is
// called, which waits for it to end.
func (l *Loop) watch() (stop func()) {
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
				if err := l.d.State.HoldLock(); err != nil && !gone(err) {
					l.fail(err)
				}
				if !l.takeRequests() && now.Sub(last) < statusBeat {
					continue
				}
				l.board.update(func(s *state.Status) { s.Pending = l.asked() })
				last = now
				// An agent may have deleted the state directory, or put a file in its
				// place; it is put back after the call. Anything else that keeps state from disk ends the run.
				if err := l.board.save(); err != nil && !gone(err) {
					l.fail(err)
				}
				l.flush()
			}
		}
	}()
	return func() { close(quit); <-done }
}

// gone tells that the state directory is not there, which is mended after the call.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// fail ends the running call: without its state ralph must not spend money.
func (l *Loop) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = err
	}
	if l.cancel != nil {
		l.cancel(err)
	}
}

func (l *Loop) flush() {
	for _, f := range []*logs.File{l.events, l.live} {
		if err := f.Flush(); err != nil {
			l.d.Log.Warn("log lost", logs.KeyError, err)
		}
	}
}

// takeRequests tells whether there were any.
func (l *Loop) takeRequests() bool {
	requests, err := l.d.State.TakeRequests()
	if err != nil {
		l.d.Log.Warn("requests unreadable", logs.KeyError, err)
	}
	if len(requests) == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range requests {
		l.d.Log.Info("request", "request", q)
		if q == state.RequestResume { // whoever wants it to go on does not want it to end
			l.pending = slices.DeleteFunc(l.pending, func(p state.Request) bool { return p == state.RequestStop })
		}
		l.pending = append(l.pending, q)
		if l.cancel != nil && (q == state.RequestSkip || q == state.RequestAbort) {
			l.cancel(fmt.Errorf("ralph %s", q))
		}
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return true
}

// asked is the request that the end of the iteration answers; empty: none.
func (l *Loop) asked() (q state.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pending {
		switch {
		case p == state.RequestStop || p == state.RequestPause && q != state.RequestStop:
			q = p
		case p == state.RequestResume && q == state.RequestPause:
			q = ""
		}
	}
	return q
}

// interrupt tells whether a person ends the run: a signal, abort or stop.
func (l *Loop) interrupt(ctx context.Context) *rules.Interrupt {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.pending, state.RequestAbort) { // before signals: a service manager goes on with a run that SIGTERM ended
		return &rules.Interrupt{Exit: rules.ExitInterrupted, ExitReason: "aborted", Why: "ralph abort"}
	}
	if ctx.Err() != nil {
		if i, ok := context.Cause(ctx).(*rules.Interrupt); ok { //nolint:errorlint // the cause is set, never wrapped
			return i
		}
		return &rules.Interrupt{Exit: rules.ExitInterrupted, ExitReason: "interrupted", Why: context.Cause(ctx).Error()}
	}
	if slices.Contains(l.pending, state.RequestStop) {
		return &rules.Interrupt{Exit: rules.ExitInterrupted, ExitReason: "interrupted", Why: "ralph stop"}
	}
	return nil
}

// take removes requests of the given kinds and tells the first that it found.
func (l *Loop) take(kinds ...state.Request) state.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found state.Request
	l.pending = slices.DeleteFunc(l.pending, func(q state.Request) bool {
		hit := slices.Contains(kinds, q)
		if hit && found == "" {
			found = q
		}
		return hit
	})
	return found
}

// takePause tells whether the latest of pause and resume was pause.
func (l *Loop) takePause() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	paused := false
	l.pending = slices.DeleteFunc(l.pending, func(q state.Request) bool {
		if q == state.RequestPause || q == state.RequestResume {
			paused = q == state.RequestPause
			return true
		}
		return false
	})
	return paused
}

// pause waits for ralph resume, or for a wish to end.
func (l *Loop) pause(ctx context.Context) error {
	l.board.update(func(s *state.Status) {
		s.Status, s.Phase, s.LastAction, s.Pending = state.StatusPaused, "paused", "paused by ralph pause", ""
	})
	l.emit(state.Event{Kind: state.KindDecision, Text: "paused; go on with: ralph resume",
		End: &state.End{Action: string(rules.ActionWait), Rule: "paused"}})
	err := l.sleep(ctx, time.Time{}, rules.Decision{Action: rules.ActionWait, Rule: "paused", Reason: "ralph pause"})
	if ctx.Err() != nil { // a signal is no answer to the pause
		l.mu.Lock()
		l.pending = append(l.pending, state.RequestPause)
		l.mu.Unlock()
	}
	return err
}

// wait sleeps until the decision's time. A resume request ends it early.
func (l *Loop) wait(ctx context.Context, d rules.Decision) error {
	if time.Until(d.Until) <= 0 {
		return nil
	}
	if l.takePause() { // a resume from before this wait is not for it
		l.mu.Lock()
		l.pending = append(l.pending, state.RequestPause)
		l.mu.Unlock()
	}
	l.board.update(func(s *state.Status) {
		if d.Action == rules.ActionWait || d.Rule == "transient" {
			s.Status, s.WakeAt = state.StatusWaiting, d.Until
		}
		s.Phase, s.Rule, s.Reason = "waiting", d.Rule, d.Reason
		s.LastAction = "waiting: " + d.Rule
	})
	return l.sleep(ctx, d.Until, d)
}

// sleep waits for the wall clock: a machine that was suspended wakes up late,
// and a timer of the process would then still wait for the rest. A pause, which
// is reckoned from its beginning, also ends when its time has passed: the clock
// may have been set back.
func (l *Loop) sleep(ctx context.Context, until time.Time, d rules.Decision) error {
	if err := l.board.save(); err != nil {
		return err
	}
	l.before = nil // people edit while ralph waits
	for n := 0; l.interrupt(ctx) == nil; n++ {
		left := time.Until(until.Round(0)).Round(time.Second)
		if now := time.Now(); !until.IsZero() && (!now.Before(until) || !now.Round(0).Before(until.Round(0))) {
			break
		}
		if l.take(state.RequestResume) != "" {
			l.take(state.RequestPause)
			if d.Rule == "usage_limit" {
				clear(l.limits)
			}
			break
		}
		if n%4 == 0 && l.d.Tick != nil {
			l.d.Tick(left, d)
		}
		short := beat
		if !until.IsZero() {
			short = min(beat, max(time.Until(until), time.Millisecond))
		}
		timer := time.NewTimer(short)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-ctx.Done():
		}
		timer.Stop()
		if l.brokenErr() != nil {
			return l.brokenErr()
		}
	}
	l.board.update(func(s *state.Status) {
		s.Status, s.WakeAt, s.LastAction = state.StatusRunning, time.Time{}, "going on after a wait"
	})
	return nil
}

func (l *Loop) brokenErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}
