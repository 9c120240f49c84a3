package runner

import (
	"context"
	"errors"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/crew"
	"ralph/runner/rules"
	"ralph/runner/task"
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
	d, err := r.enter(ctx)
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
	r.atEnd(ctx, d)
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
//	next ---> start ---> the job: a turn, or a phase of a review ---> listen ---> conclude
//	 |  ^     hooks,     on a goroutine of its own, in its place      events,     Result --> Decision:
//	 |  |     baseline,                                               requests    plan, records, counters,
//	 |  |     agent                                                               one event
//	 |  +---- wait, pause, skip
//	 +--> stop
func (r *Run) loop(ctx context.Context) (rules.Decision, error) {
	if d, goOn := r.atStart(ctx); !goOn {
		return d, nil
	}
	if err := r.checkKilledTick(ctx); err != nil {
		return rules.Decision{}, err
	}
	var over rules.Decision // a stop: no other job starts
	for {
		if err := r.inbox.Broken(); err != nil {
			return over, r.drain(err)
		}
		r.taskRequests()
		if over.Action != state.ActionStop && r.crew.Open() {
			d, again, err := r.next(ctx)
			switch {
			case err != nil:
				return over, r.drain(err)
			case d.Action == state.ActionStop:
				over = d
			case again:
				continue
			}
		}
		if r.crew.Jobs() == 0 && over.Action == state.ActionStop {
			return over, nil
		}
		d, err := r.listen(ctx)
		if err != nil {
			return over, r.drain(err)
		}
		if d.Action == state.ActionStop && (over.Action != state.ActionStop || d.Exit == state.ExitComplete) {
			over = d
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

// next starts a job if one may start, or else waits, pauses or skips a task. again is true after each of these: the loop
// then calls next again.
func (r *Run) next(ctx context.Context) (d rules.Decision, again bool, err error) {
	if r.crew.Jobs() > 0 {
		t, ok := r.nextBeside(ctx)
		if !ok {
			return d, false, nil
		}
		d, err = r.start(ctx, t)
		return d, true, err
	}
	if err := r.crew.Refresh(ctx, func() turn.Assignment { return r.assignment(task.Task{}) }, r.handleEvent); err != nil && ctx.Err() == nil {
		return d, false, err
	}
	d, t, err := r.admit(ctx)
	if err != nil || d.Action == state.ActionStop {
		return d, false, err
	}
	if d.Action != state.ActionWait {
		d, t = r.holdBack(d, t)
	}
	switch {
	case d.Action == state.ActionWait:
		r.announce(d)
		err := r.wait(ctx, d)
		if time.Now().Before(d.Until) {
			r.crew.EndDelays() // ralph resume ended the wait
		}
		return rules.Decision{}, true, err
	case r.inbox.TakePause():
		return rules.Decision{}, true, r.pause(ctx)
	case r.inbox.Take(state.RequestSkip) != "": // it arrived while no job was under way
		r.skip(t, true)
		return rules.Decision{}, true, nil
	}
	d, err = r.start(ctx, t)
	return d, true, err
}

// noWorker is how long a task waits before the run looks again for a worker of the fleet.
const noWorker = 5 * time.Second

// holdBack returns another task instead of one that has to wait, or the decision to wait.
func (r *Run) holdBack(d rules.Decision, t task.Task) (rules.Decision, task.Task) {
	if !r.crew.Suits(t) {
		r.crew.Delay(t.ID, time.Now().Add(noWorker))
		r.d.Log.Warn("no worker of the fleet can take a task; it waits", logs.KeyTask, t.ID, "worker", t.Worker)
	}
	now := time.Now()
	if !r.crew.Delayed(t.ID, now) {
		return d, t
	}
	other, ok := r.rule(now).Next(r.plan.Read().List)
	if !ok {
		d = rules.DecideCase(rules.CaseRetries, "all tasks wait for their next try")
		d.Until = r.crew.NextStart(now)
	}
	return d, other
}

// rule says which tasks may run beside those under way.
func (r *Run) rule(now time.Time) crew.BesideRule {
	return crew.BesideRule{Busy: r.crew.Busy(), Files: r.crew.Files(), Any: r.o.ParallelAny, Out: func(t task.Task) bool {
		n := r.tasks.Of(t.ID)
		return n.Aside.Why != "" || n.Skipped || n.Waits || r.crew.Delayed(t.ID, now) || !r.crew.Suits(t)
	}}
}

// nextBeside returns a task that may start beside those under way, if the limits of the run allow one.
func (r *Run) nextBeside(ctx context.Context) (task.Task, bool) {
	if rules.StopRequest(ctx, r.inbox) != nil || r.inbox.Has(state.RequestPause) || r.inbox.Has(state.RequestSkip) {
		return task.Task{}, false
	}
	now, plan := time.Now(), r.plan.Read()
	if _, err := r.asked.Waiting(plan.List); err != nil {
		return task.Task{}, false // admit returns this error once no job is under way
	}
	next, ok := r.rule(now).Next(plan.List)
	if !ok || r.crew.Room(ctx, next) == 0 {
		return next, false
	}
	f := rules.Admission{Facts: r.facts(ctx, plan)}
	f.LimitedUntil = r.freeAt(next, plan.List, now)
	f.Paced = r.pool.PaceHold(r.wanted(next, plan.List), now)
	f.Memory.Iterations += r.crew.Jobs()
	return next, rules.Admit(f).Action == state.ActionContinue
}

// start makes a job of a task and begins it. The decision says why it could not.
func (r *Run) start(ctx context.Context, t task.Task) (rules.Decision, error) {
	work, done := r.inbox.CallContext(ctx) // ends what comes before the job; once it runs, listen ends it
	defer done()
	j := r.crew.New(t, r.tasks.Of(t.ID), r.origin(t))
	a, d, err := r.prepare(work, j)
	if err != nil || a.Origin.Iteration == 0 || work.Err() != nil { // admit sees who ended it, and why
		r.crew.Release(j)
		return d, err
	}
	r.showSlots()
	r.count(a)
	if r.crew.Apart() || j.Review != nil { // else handleEvent waits, just before the agent is called
		if err := r.counted.Wait(); err != nil {
			r.crew.Release(j)
			return d, err
		}
	}
	r.crew.Start(ctx, j, a, r.reviewers(j))
	return rules.Decision{}, nil
}

// prepare does what comes before a job: the user's hooks, the baseline of the checks, the choice of the agent. The
// assignment is zero if the job cannot begin; the decision may say why.
func (r *Run) prepare(ctx context.Context, j *crew.Job) (none turn.Assignment, d rules.Decision, err error) {
	t := j.Task
	if d, ok := r.beforeTurn(ctx, t); !ok {
		return none, d, nil
	}
	n := r.tasks.Of(t.ID)
	if n.Review.Kept && !r.crew.Apart() {
		r.fetchBack(t)
	}
	if n.Review.Phase != "" {
		return r.prepareReview(j), d, nil
	}
	if err := r.takeBaseline(ctx, t); err != nil || ctx.Err() != nil {
		return none, d, err
	}
	a, who, err := r.assign(t, j)
	if err != nil {
		return none, rules.DecideCase(rules.CaseUnusable, err.Error()), nil
	}
	n.Review, a.Then = r.panel.Begin(ctx, t, n.Review)
	r.announceAgent(t, who)
	err = r.crew.Ready(ctx, a)
	if err == nil && ctx.Err() == nil && t.State == task.Open && t.ID != "" { // else the turn meets the error, too
		a.Prompt.State = r.started(t, a.Prompt.State)
	}
	return a, d, nil
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

// skip puts a task off; say reports it.
func (r *Run) skip(t task.Task, say bool) {
	if r.tasks.Skip(t.ID); say && t.ID != "" {
		r.tellOf(t,
			state.TaskChange{ID: t.ID, Title: t.Title, State: state.TaskSkipped, Why: r.inbox.Who(state.RequestSkip)})
	}
}

// paused is how long a paused task waits. In effect, it waits until ralph resume.
const paused = 365 * 24 * time.Hour

// taskRequests carries out what people ask for single tasks: skip, abort, pause and resume.
func (r *Run) taskRequests() {
	for _, q := range r.inbox.About() {
		kind, id := q.Split()
		kind, _ = kind.Plain()
		t, known := r.plan.Read().List.Find(id)
		switch {
		case !known:
			r.d.Log.Warn("a request names no task of the plan", logs.KeyTask, id, "request", kind)
		case kind == state.RequestSkip, kind == state.RequestAbort:
			r.skip(t, r.crew.Of(id) == nil) // a turn that is cut off says so itself
			r.crew.Skip(id, kind)
		case kind == state.RequestPause:
			r.crew.Delay(id, time.Now().Add(paused))
		case kind == state.RequestResume:
			r.crew.Delay(id, time.Time{})
		}
	}
}
