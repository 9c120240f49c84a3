package runner

import (
	"context"
	"errors"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/crew"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// Run runs until a decision stops it. The context is cancelled with a *rules.Interrupt as its cause. The error is ralph's
// own failure; then the decision is a stop with ExitError.
func (r *Run) Run(ctx context.Context) (Ending, error) {
	if err := r.open(); err != nil {
		return r.ending(rules.DecideError(err)), err
	}
	stop := r.watch()
	d, err := r.openWorktrees(ctx)
	if err == nil && d.Action != state.ActionStop {
		d, err = r.loop(ctx)
	}
	if errors.Is(err, turn.ErrLost) {
		d, err = rules.DecideCase(rules.CaseLost, err.Error()), nil
	}
	if err == nil {
		err = r.inbox.Broken()
	}
	if err != nil {
		d = rules.DecideError(err)
	}
	r.hooksAtEnd(ctx, d)
	stop()
	d = r.leave(d) //nolint:contextcheck // the context of the run has often ended by now
	r.worker.Close()
	return r.ending(d), errors.Join(err, r.close(d))
}

// loop starts jobs while there is room, listens to them, and concludes from those that are over. It ends with the
// decision to stop, once no job is under way. In the user's checkout there is room for one job, in worktrees for several.
//
//	  +-------------------------- continue, retry ----------------------------+
//	  v                                                                       |
//	admit ---> start ---> the job: a turn, or a phase of a review ---> listen ---> conclude
//	 |  ^      hooks,     on a goroutine of its own, in its place      events,     Result --> Decision:
//	 |  |      baseline,                                               requests    the ledger, the plan,
//	 |  |      agent                                                               one event
//	 |  +---- wait, pause, skip
//	 +--> stop
func (r *Run) loop(ctx context.Context) (rules.Decision, error) {
	if d, goOn := r.hooksAtStart(ctx); !goOn {
		return d, nil
	}
	if err := r.checkKilledTick(ctx); err != nil {
		return rules.Decision{}, err
	}
	var stop rules.Decision // a stop: no other job starts
	for {
		if err := r.inbox.Broken(); err != nil {
			return stop, r.drain(err)
		}
		r.taskRequests()
		if stop.Action != state.ActionStop && r.crew.Open() {
			j, d, err := r.admit(ctx)
			if j != nil {
				d, err = r.start(ctx, j)
			}
			switch {
			case err != nil:
				return stop, r.drain(err)
			case d.Action == state.ActionStop:
				stop = d
			case j != nil || d.Action == state.ActionRetry:
				continue
			}
		}
		if r.crew.Jobs() == 0 && stop.Action == state.ActionStop {
			return stop, nil
		}
		d, err := r.listen(ctx)
		if err != nil {
			return stop, r.drain(err)
		}
		if d.Action == state.ActionStop && (stop.Action != state.ActionStop || d.Exit == state.ExitComplete) {
			stop = d
		}
	}
}

// drain ends all jobs after a failure of ralph itself, waits for them, and returns err.
func (r *Run) drain(err error) error {
	r.crew.Stop("", state.RequestAbort)
	for r.crew.Jobs() > 0 {
		switch n := <-r.crew.News(); {
		case n.Done != nil:
			r.crew.Release(n.Done.Job)
		case n.Event != nil:
			n.Took()
		default:
			n.Do()
		}
	}
	return err
}

// start begins a job. The decision says why it could not.
func (r *Run) start(ctx context.Context, j *crew.Job) (rules.Decision, error) {
	work, done := r.inbox.CallContext(ctx) // ends what comes before the job; once it runs, listen ends it
	defer done()
	a, d, err := r.prepare(work, j)
	if err != nil || a.Origin.Iteration == 0 || work.Err() != nil { // admit sees who ended it, and why
		r.crew.Release(j)
		return d, err
	}
	r.showSlots()
	r.ledger.Count(a)
	if r.crew.InWorktrees() || j.Review != nil { // else handleEvent waits, just before the agent is called
		if err := r.ledger.WaitCounted(); err != nil {
			r.crew.Release(j)
			return d, err
		}
	}
	r.crew.Start(ctx, j, a, r.reviewers(j))
	return rules.Decision{}, nil
}

// listen waits for news, or for something that lets another job start.
func (r *Run) listen(ctx context.Context) (rules.Decision, error) {
	var again <-chan time.Time
	if until := r.crew.NextStart(time.Now()); !until.IsZero() {
		again = time.After(time.Until(until))
	}
	select {
	case n := <-r.crew.News():
		switch {
		case n.Do != nil:
			n.Do()
			r.showSlots()
		case n.Event != nil:
			r.handleEvent(*n.Event)
			r.showTool(*n.Event)
			n.Took()
		default:
			return r.conclude(ctx, *n.Done)
		}
	case <-r.inbox.Wake:
		switch r.taskRequests(); {
		case r.inbox.Has(state.RequestAbort):
			r.crew.Stop("", state.RequestAbort)
		case r.inbox.Take(state.RequestSkip) != "": // skips all tasks under way
			for id := range r.crew.Busy() {
				r.crew.Skip(id, state.RequestSkip)
			}
		}
	case <-again:
	}
	return rules.Decision{}, nil
}

func (r *Run) showSlots() {
	slots, fleet := r.crew.Status()
	r.out.Status(func(s *state.Status) { s.Slots, s.Fleet = slots, fleet })
}

// showTool shows the tool that the agent of a job called last.
func (r *Run) showTool(e state.Event) {
	j := r.crew.At(e.Origin)
	if j == nil {
		return
	}
	tool, ok := e.Data.(state.Tool)
	if ok {
		j.Tool = termtext.Line(tool.Name + " " + tool.Arg)
	}
	if ok || j.Host != e.Host {
		j.Host = e.Host
		r.showSlots()
	}
}

// untilResumed is how long a paused task waits. In effect, it waits until ralph resume.
const untilResumed = 365 * 24 * time.Hour

// taskRequests carries out what people ask for single tasks: skip, abort, pause and resume.
func (r *Run) taskRequests() {
	for _, q := range r.inbox.About() {
		kind, id := q.Split()
		kind, _ = kind.Plain()
		t, known := r.ledger.Plan.Read().List.Find(id)
		switch {
		case !known:
			r.d.Log.Warn("a request names no task of the plan", logs.KeyTask, id, "request", kind)
		case kind == state.RequestSkip, kind == state.RequestAbort:
			r.ledger.Tasks.Skip(id)
			if r.crew.Of(id) == nil { // a turn that is cut off says so itself
				r.tellSkip(r.ledger.Origin(t), t)
			}
			r.crew.Skip(id, kind)
		case kind == state.RequestPause:
			r.crew.Delay(id, time.Now().Add(untilResumed))
		case kind == state.RequestResume:
			r.crew.Delay(id, time.Time{})
		}
	}
}
