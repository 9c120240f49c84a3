package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ralph/logs"
	"ralph/runner/gate"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn/stop"
	"ralph/state"
)

// inbox holds the requests of people (pause, skip, stop, ...) until the run
// answers them. Safe for concurrent use.
type inbox struct {
	Wake chan struct{} // gets a value when a request arrives

	mu      sync.Mutex
	pending []state.Request
	about   []state.Request         // those about one task
	agents  []state.Request         // all that the agent sent
	told    int                     // how many of them were reported
	cancel  context.CancelCauseFunc // of what runs now; nil: nothing
	ends    []state.Request         // that end it
	err     error                   // why state cannot be written any more
}

// newInbox returns an empty inbox.
func newInbox() *inbox { return &inbox{Wake: make(chan struct{}, 1)} }

// Fail ends the running turn: without its state ralph must not spend money.
func (in *inbox) Fail(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = err
	}
	if in.cancel != nil {
		in.cancel(err)
	}
	in.wake()
}

func (in *inbox) wake() {
	select {
	case in.Wake <- struct{}{}:
	default:
	}
}

// Broken is why state cannot be written any more; nil: it can.
func (in *inbox) Broken() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

// Add takes requests in. Some end what runs now.
func (in *inbox) Add(requests []state.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, q := range requests {
		if _, task := q.Split(); task != "" {
			in.about = append(in.about, q)
			continue
		}
		q, ofAgent := q.Plain()
		if ofAgent {
			in.agents = append(in.agents, q)
		}
		if q == state.RequestResume { // whoever wants it to go on does not want it to end
			in.pending = slices.DeleteFunc(in.pending, func(p state.Request) bool { return p == state.RequestStop })
		}
		in.pending = append(in.pending, q)
		if in.cancel != nil && slices.Contains(in.ends, q) {
			in.cancel(&stop.Stopped{By: q})
		}
	}
	in.wake()
}

// OfAgent returns the requests of the agent that it has not returned before.
func (in *inbox) OfAgent() []state.Request {
	in.mu.Lock()
	defer in.mu.Unlock()
	fresh := in.agents[in.told:]
	in.told = len(in.agents)
	return fresh
}

// About removes and returns the requests about single tasks.
func (in *inbox) About() []state.Request {
	in.mu.Lock()
	defer in.mu.Unlock()
	all := in.about
	in.about = nil
	return all
}

// Who names a request and, if it was the agent, who made it.
func (in *inbox) Who(q state.Request) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	who := "ralph " + string(q)
	if slices.Contains(in.agents, q) {
		who += ", run by the agent itself"
	}
	return who
}

// Put puts a request back that was not answered.
func (in *inbox) Put(q state.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending = append(in.pending, q)
}

// Has is true when such a request waits.
func (in *inbox) Has(q state.Request) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Contains(in.pending, q)
}

// Take removes all requests of a kind, and is true if there was one.
func (in *inbox) Take(kind state.Request) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	before := len(in.pending)
	in.pending = slices.DeleteFunc(in.pending, func(q state.Request) bool { return q == kind })
	return len(in.pending) < before
}

// TakePause removes pauses and resumes, and is true when the latest was a pause.
func (in *inbox) TakePause() bool {
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

// Asked is the request that the end of the iteration answers; empty: none.
func (in *inbox) Asked() (q state.Request) {
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

// Until returns a context that these requests end, too. A skip comes too late for what follows a
// call. Call the function when the work is over.
func (in *inbox) Until(ctx context.Context, ends ...state.Request) (context.Context, func()) {
	call, cancel := context.WithCancelCause(ctx)
	in.mu.Lock()
	in.cancel, in.ends = cancel, ends
	if slices.Contains(in.pending, state.RequestAbort) {
		cancel(&stop.Stopped{By: state.RequestAbort})
	}
	in.mu.Unlock()
	return call, func() {
		in.mu.Lock()
		in.cancel = nil
		in.mu.Unlock()
		cancel(nil)
	}
}

// StopRequest is the signal or request by which a person wants to end the run; nil: none.
func (in *inbox) StopRequest(ctx context.Context) *rules.Interrupt {
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
