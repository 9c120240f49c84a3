package runner

import (
	"context"
	"errors"
	"time"

	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

const (
	pollInterval   = 250 * time.Millisecond // how often requests are read
	statusInterval = time.Second            // how often status.json is refreshed
)

// watch starts a goroutine that reads requests and refreshes status.json. stop ends it
// and waits for it.
func (r *Run) watch() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(pollInterval)
		defer ticker.Stop()
		last := time.Now()
		for {
			select {
			case <-quit:
				return
			case now := <-ticker.C:
				if r.readRequests() || now.Sub(last) >= statusInterval {
					r.refresh()
					last = now
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

// readRequests renews the lock and queues new requests. It reports whether there were any.
func (r *Run) readRequests() bool {
	if err := r.d.State.HoldLock(); err != nil && !gate.FolderGone(err) {
		r.inbox.Fail(err)
	}
	requests, err := r.d.State.TakeRequests()
	if err != nil {
		r.d.Log.Warn("requests unreadable", logs.KeyError, err)
	}
	for _, q := range requests {
		r.d.Log.Info("request", "request", q)
	}
	if len(requests) > 0 {
		r.inbox.Add(requests)
	}
	return len(requests) > 0
}

// refresh writes status.json. An agent may have deleted the state directory, or
// put a file in its place: that is repaired after the call. Any other write error
// ends the run.
func (r *Run) refresh() {
	asked := r.inbox.Asked()
	r.out.Status(func(s *state.Status) { s.Pending = asked })
	r.lost(r.out.Save())
	r.out.Flush()
}

// lost ends the run if state could not be written. A missing directory is repaired later.
func (r *Run) lost(err error) {
	if err != nil && !gate.FolderGone(err) {
		r.inbox.Fail(err)
	}
}

// pause waits for ralph resume, or for a signal or request that ends the run.
func (r *Run) pause(ctx context.Context) error {
	r.out.Status(func(s *state.Status) {
		s.Status, s.Phase, s.Reason, s.Pending = state.StatusPaused, "paused", "paused by "+
			r.inbox.Who(state.RequestPause), ""
	})
	r.ledger.Tell(r.ledger.Origin(r.ledger.Last.Task), state.Paused{})
	err := r.sleep(ctx, time.Time{}, rules.DecideCase(rules.CasePause, r.inbox.Who(state.RequestPause)))
	if ctx.Err() != nil { // a signal is not an answer to the pause
		r.inbox.Put(state.RequestPause)
	}
	return err
}

// wait sleeps until the decision's time. A resume request ends it early.
func (r *Run) wait(ctx context.Context, d rules.Decision) error {
	if time.Until(d.Until) <= 0 {
		return nil
	}
	if r.inbox.TakePause() { // drops a resume that was asked for before this wait
		r.inbox.Put(state.RequestPause)
	}
	r.out.Status(func(s *state.Status) {
		s.Status, s.WakeAt, s.Phase, s.Rule, s.Reason = state.StatusWaiting, d.Until, "waiting", d.Rule, d.Reason
	})
	return r.sleep(ctx, d.Until, d)
}

// sleep waits until the wall clock or the monotonic clock reaches until; zero: until a
// request. A timer alone would not count the time in which the machine was suspended,
// and the wall clock alone would wait too long after it was set back.
func (r *Run) sleep(ctx context.Context, until time.Time, d rules.Decision) error {
	l, none := r.ledger, task.Task{}
	if next, open := l.Tasks.Choose(l.Plan.Read().List); open { // the task that ralph skip would skip now
		r.out.Status(func(s *state.Status) { s.Task.ID, s.Task.Title = next.ID, next.Title })
	}
	if err := errors.Join(l.Wait(), r.out.Save()); err != nil {
		return err
	}
	defer r.worker.WhilePeopleEdit(ctx, r.assignment(none, l.Origin(none), nil))() // people edit while ralph waits
	for n := 0; r.inbox.StopRequest(ctx) == nil; n++ {
		left := time.Until(until.Round(0)).Round(time.Second)
		if now := time.Now(); !until.IsZero() && (!now.Before(until) || !now.Round(0).Before(until.Round(0))) {
			break
		}
		if r.inbox.Take(state.RequestResume) {
			r.inbox.Take(state.RequestPause)
			l.Pool.WorkNow(d.Rule == state.RuleUsageLimit, d.Rule == state.RulePace, d.Until)
			break
		}
		if n%4 == 0 && d.Rule == state.RuleQuestion && l.Asked.WaitOver(l.Plan.Read().List) {
			break
		}
		if n%4 == 0 && r.d.Tick != nil {
			r.d.Tick(left, d)
		}
		short := pollInterval
		if !until.IsZero() {
			short = min(pollInterval, max(time.Until(until), time.Millisecond))
		}
		select {
		case <-time.After(short):
		case <-r.inbox.Wake:
		case <-ctx.Done():
		}
		if err := r.inbox.Broken(); err != nil {
			return err
		}
	}
	r.out.Status(func(s *state.Status) {
		s.Status, s.WakeAt = state.StatusRunning, time.Time{}
	})
	return nil
}
