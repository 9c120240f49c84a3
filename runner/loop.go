package runner

// This file is the way of one task through a run, from top to bottom.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/crew"
	"ralph/runner/hooks"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/slots"
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
	d, err := r.openWorktrees(ctx)
	r.openReceipts(ctx)
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
			t, d, err := r.admit(ctx)
			if t != nil {
				d, err = r.start(ctx, *t)
			}
			switch {
			case err != nil:
				return stop, r.drain(err)
			case d.Action == state.ActionStop:
				stop = d
			case t != nil || d.Action == state.ActionRetry:
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

// admit returns the task for which a job may start now; nil: none may. The decision is then to stop, or to retry after a
// wait, a pause or a skip.
func (r *Run) admit(ctx context.Context) (*task.Task, rules.Decision, error) {
	if r.crew.Jobs() > 0 {
		return r.admitBeside(ctx)
	}
	l, again := r.ledger, rules.Decision{Action: state.ActionRetry}
	own := func() turn.Assignment { return r.assignment(task.Task{}, l.Origin(task.Task{}), nil) }
	if err := r.crew.Refresh(ctx, own, r.handleEvent); err != nil && ctx.Err() == nil {
		return nil, again, err
	}
	f, next, err := l.Admission(r.inbox.StopRequest(ctx))
	if err != nil {
		return nil, again, err
	}
	f.Ends, f.Claimed = r.ends, r.claimed
	done := f.Ends != "" || f.Plan.Total > 0 && f.Plan.Remaining == 0
	if done && !f.Interrupt.Now() && len(l.Checks.Rows) > 0 {
		res, err := r.lastChecks(ctx)
		if err != nil {
			return nil, again, err
		}
		f.Report, f.Unchecked, f.Interrupt = res.Proof.Report, res.Proof.Unchecked, r.inbox.StopRequest(ctx)
	}
	if done && !f.Interrupt.Now() && !f.Unchecked {
		r.checksElsewhere(ctx, &f)
	}
	if done && !f.Interrupt.Now() && !f.Unchecked && !f.Report.Blocked() {
		f.Review = r.reviewItems(ctx, f.Report)
	}
	r.addLimits(&f, next)
	d := rules.Admit(f)
	l.Notes.Add(d)
	if d.Action == state.ActionStop {
		l.Plan.Counts = f.Plan
		// A failed or cut-off call may have left the rest uncommitted.
		if d.Exit == state.ExitComplete || d.Exit == state.ExitReview {
			rest := &crew.Job{Origin: l.Origin(task.Task{}), Record: l.Tasks.Of("")}
			rest.Commit, _ = r.commit(ctx, rest.Task, rest.Origin)
			r.writeReceipt(ctx, rest, turn.Result{Agent: l.Last.Agent, Model: l.Last.Model, Checks: l.Checks,
				Proof: turn.Proof{Report: f.Report}})
		}
		l.Announce(d)
		return nil, d, nil
	}
	if now := time.Now(); d.Action != state.ActionWait && r.crew.Delayed(next.ID, now) {
		other, ok := r.besideRule(now).Next(f.Plan.List)
		if next = other; !ok {
			d = rules.DecideCase(rules.CaseRetries, "all tasks wait for their next try")
			d.Until = r.crew.NextStart(now)
		}
	}
	switch {
	case d.Action == state.ActionWait:
		l.Announce(d)
		err := r.wait(ctx, d)
		if time.Now().Before(d.Until) {
			r.crew.EndDelays() // ralph resume ended the wait
		}
		return nil, again, err
	case r.inbox.TakePause():
		return nil, again, r.pause(ctx)
	case r.inbox.Take(state.RequestSkip): // it arrived while no job was under way
		l.Tasks.Skip(next.ID)
		r.tellSkip(l.Origin(next), next)
		return nil, again, nil
	}
	return &next, again, nil
}

// admitBeside is admit while other jobs are under way.
func (r *Run) admitBeside(ctx context.Context) (*task.Task, rules.Decision, error) {
	stop := r.inbox.StopRequest(ctx)
	if stop != nil || r.ends != "" || r.inbox.Has(state.RequestPause) || r.inbox.Has(state.RequestSkip) {
		return nil, rules.Decision{}, nil
	}
	f, _, err := r.ledger.Admission(nil)
	if err != nil {
		return nil, rules.Decision{}, nil //nolint:nilerr // admit returns it once no job is under way
	}
	next, ok := r.besideRule(f.Now).Next(f.Plan.List)
	if !ok || !r.crew.Room(ctx) {
		return nil, rules.Decision{}, nil
	}
	r.addLimits(&f, next)
	f.Memory.Iterations += r.crew.Jobs()
	if rules.Admit(f).Action != state.ActionContinue {
		return nil, rules.Decision{}, nil
	}
	return &next, rules.Decision{}, nil
}

// besideRule says which tasks may run beside those under way.
func (r *Run) besideRule(now time.Time) crew.BesideRule {
	return crew.BesideRule{Busy: r.crew.Busy(), Any: r.o.ParallelAny, Skip: func(t task.Task) bool {
		n := r.ledger.Tasks.Of(t.ID)
		return n.Aside.Why != "" || n.Skipped || n.Waits || r.crew.Delayed(t.ID, now)
	}}
}

// start begins a job for a task, after the user's hooks, the baseline of the checks and the choice of the agent. The decision may say
// why it could not.
func (r *Run) start(ctx context.Context, t task.Task) (d rules.Decision, err error) {
	l, j := r.ledger, r.newJob(t)
	work, done := r.inbox.Until(ctx, state.RequestSkip, state.RequestAbort) // ends what comes before the job; once it runs, listen ends it
	defer done()
	started := false
	defer func() {
		if !started {
			r.crew.Release(j)
		}
	}()
	if d, ok := r.hooksBefore(work, j); !ok {
		return d, nil
	}
	var a turn.Assignment
	if j.Record.Review.Phase != "" {
		a = r.prepareReview(j)
	} else {
		if err := r.takeBaseline(work, t, j.Origin); err != nil || work.Err() != nil {
			return d, err
		}
		var who choice
		if a, who, err = r.assign(j); err != nil {
			return rules.DecideCase(rules.CaseUnusable, err.Error()), nil
		}
		j.Record.Review, a.FirstReview = r.panel.Begin(work, t, j.Record.Review)
		r.announceAgent(j, who)
		ready := r.crew.Ready(work, a) == nil // else the turn meets the error, too
		if ready && work.Err() == nil && t.State == task.Open && t.ID != "" && l.Plan.Mark(t.ID, task.Active) {
			t.State, t.Word = task.Active, ""
			a.Prompt.State = l.Plan.Read().List.Word(t)
		}
	}
	if work.Err() != nil { // admit sees who ended it, and why
		return d, nil
	}
	r.showSlots()
	l.Count(a)
	if r.crew.InWorktrees() || j.Review != nil { // else handleEvent waits, just before the agent is called
		if err := l.Wait(); err != nil {
			return d, err
		}
	}
	started = true
	r.crew.Start(ctx, j, a, r.reviewers(j))
	return d, nil
}

// newJob makes the job of a task. If an earlier run did its work in a worktree, it still waits for review, and this run has
// no worktrees, its developer takes over.
func (r *Run) newJob(t task.Task) *crew.Job {
	l, n := r.ledger, r.ledger.Tasks.Of(t.ID)
	if n.Review.Kept && !r.crew.InWorktrees() {
		ref := slots.Ref((&slots.Home{Plan: l.Plan.File}).Key(t))
		l.SendBack(t, n.Review.Verdicts)
		l.Notes.Settle("Your earlier work on this task is not in these files. It is the commit " + ref +
			": look at it with git show " + ref + ", and take over what is good.")
		l.TellTask(l.Origin(t), t, state.TaskActive,
			"its work was done in a worktree, and this run has none: its developer takes it over from "+ref)
	}
	return r.crew.New(t, n, l.Origin(t))
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
		case r.inbox.Take(state.RequestSkip): // skips all tasks under way
			for id := range r.crew.Busy() {
				r.crew.Skip(id, state.RequestSkip)
			}
		}
	case <-again:
	}
	return rules.Decision{}, nil
}

// handleEvent takes an event of a turn. It updates status.json and passes the event on.
func (r *Run) handleEvent(e state.Event) {
	l := r.ledger
	switch d := e.Data.(type) {
	case state.Phase:
		if d.Name == state.PhaseObserving {
			r.repairState()
		}
		if d.Name == state.PhaseAgent {
			if err := l.Wait(); err != nil {
				r.inbox.Fail(err) // a call that cannot be counted must not be made
				r.crew.Stop("", state.RequestAbort)
			}
		}
	case state.Limit:
		l.NoteUsage(e.Origin, d)
	}
	r.out.Status(func(s *state.Status) { output.ShowEvent(s, e.Data, l.Memory.Usage, l.Calls.Tokens) })
	r.out.Event(e)
}

// repairState makes the state directory whole again after an agent damaged it.
func (r *Run) repairState() {
	lost, err := r.d.State.Ensure()
	if err != nil {
		r.inbox.Fail(err)
		return
	}
	r.out.Reopen()
	r.ledger.StateLost = lost
}

// conclude decides what follows from a job that is over, and waits until the next one may start.
func (r *Run) conclude(ctx context.Context, done crew.Done) (rules.Decision, error) {
	made := r.ledger.Memory.Iterations
	d, err := r.settle(ctx, done)
	r.crew.Release(done.Job)
	r.showSlots()
	switch {
	case err != nil || d.Action == state.ActionStop:
	case r.crew.InWorktrees():
		if d.Until.After(time.Now()) {
			r.crew.Delay(done.Job.Task.ID, d.Until)
		}
	default: // the next task would find the half-done files of this one
		now := r.ledger.Memory.Iterations
		if d.Until.IsZero() && now > made && (r.o.MaxIterations == 0 || now < r.o.MaxIterations) {
			d.Until = time.Now().Add(r.o.Delay)
		}
		err = r.wait(ctx, d)
	}
	return d, err
}

// settle takes over the Result of a job, decides what follows from it, and moves the user's checkout forward to what has
// landed.
func (r *Run) settle(ctx context.Context, done crew.Done) (rules.Decision, error) {
	l, j := r.ledger, done.Job
	if err := l.Wait(); err != nil { // of a turn that ended before its call
		return rules.Decision{}, err
	}
	if r.crew.Jobs() == 1 && r.inbox.Take(state.RequestSkip) { // it arrived at the last moment
		j.Skip = true
	}
	r.watchCheckout(ctx, &j.Origin)
	defer r.watchCheckout(ctx, nil)
	res := r.crew.Settle(done, l.Plan.Read, l.Checks)
	if done.Landed != "" {
		j.Commit, j.Joined = done.Landed, done.Landed != done.Work.Commit
		l.Tell(j.Origin, state.Commit{OID: done.Landed, Landed: done.Branch,
			Files: max(res.Work.Change.Count, len(done.Files)), Refused: done.Work.Refused})
	}
	if done.Err == nil && j.Review == nil { // reviewers run no checks
		l.Checks = res.Checks
		if err := l.SaveChecks(); done.Landed != "" {
			r.lost(err) // the plan first says what has landed
		} else {
			done.Err = err
		}
	}
	keep, kept := r.inbox.Until(ctx, state.RequestAbort) // an abort also ends what git does after the call
	defer kept()
	conclude := r.concludeTurn
	if j.Review != nil {
		conclude = r.concludeReview
	}
	d, err := conclude(ctx, keep, done, res)
	if err != nil || done.Landed == "" {
		return d, err
	}
	if why := r.crew.Advance(ctx, done); why != "" {
		r.d.Log.Warn("the checkout does not follow", logs.KeyReason, why)
		l.Tell(j.Origin, state.Finding{Source: state.FoundByChecks,
			Text: "your files stay as they are: " + why + "; what is finished is on " + done.Branch})
	}
	return d, nil
}

// concludeTurn concludes from a turn of a developer. The error of the turn is ralph's own, and ends the run, unless the
// job was ended.
func (r *Run) concludeTurn(ctx, keep context.Context, done crew.Done, res turn.Result) (rules.Decision, error) {
	l, j := r.ledger, done.Job
	j.Record.Verdicts = nil
	r.panel.Collect(j.Assignment.Dir, j.Task)
	if broken := r.inbox.Broken(); broken != nil {
		return rules.Decision{}, broken
	}
	if done.Err != nil && j.Ctx.Err() == nil {
		for _, o := range res.Proof.Reopen { // the next run has no reason to doubt these ticks
			l.Reopen(j.Origin, o, res.Work.Before)
		}
		return rules.Decision{}, done.Err
	}
	for _, q := range r.inbox.OfAgent() {
		l.Tell(j.Origin, state.Finding{Source: state.FoundByAudit, Name: "request", Text: r.inbox.Who(q)})
	}
	if j.Skip {
		l.Tasks.Skip(j.Task.ID)
		if res.Cut == "" && !res.Proof.After.IsDone(j.Task.ID) { // a turn that the skip has cut off reports that itself
			r.tellSkip(j.Origin, j.Task)
		}
	}
	if !res.Call.Made && res.Call.NotStarted == "" { // ended before the call
		return r.uncounted(res, 1, rules.DecideCase(rules.CaseNotCalled, "a person ended it before the agent was called"))
	}
	return r.apply(ctx, keep, j, res)
}

// apply decides what follows from a turn, and records it. It commits and keeps the work unless keep is cancelled.
func (r *Run) apply(ctx, keep context.Context, j *crew.Job, res turn.Result) (rules.Decision, error) {
	l := r.ledger
	var fallbacks []string
	if j.Review == nil { // else the panel has already tried all agents that may review
		wanted, _ := r.wanted(j.Task, res.Work.Before.List)
		fallbacks = l.Pool.Candidates(wanted.Agent)
	}
	f, hints := l.Take(res, fallbacks)
	res = f.Result
	r.worker.RememberLosses(res)
	var commit hooks.Verdict
	if !res.Proof.Report.Blocked() && res.Call.Outcome.Class.Success() {
		var made string
		made, commit = r.commit(keep, j.Task, j.Origin, res.OthersFinished()...)
		if j.Commit = cmp.Or(j.Commit, made); j.Commit == "" && r.o.AutoCommit && res.Work.Change.HeadMoved {
			j.Commit = res.Work.Head // the agent has committed everything
		}
		l.Plan.Pop(j.Task.ID, r.d.State.Dir())
	}
	f.Interrupt = r.inbox.StopRequest(ctx)
	if res.Proof.After.Remaining == 0 && res.Proof.After.Error == "" && !f.Interrupt.Now() {
		f.Review = r.reviewItems(keep, res.Proof.Report)
	}
	f.Elsewhere = r.d.Elsewhere != nil
	d := rules.Conclude(f)
	if err := l.Record(f, d, hints); err != nil {
		return rules.Decision{}, err
	}
	claimed := d.Rule == state.RuleComplete && d.Action == state.ActionContinue && f.Plan.Total == 0
	if d, err := r.finish(keep, j, res, d, commit); err != nil || d.Action == state.ActionStop || !claimed {
		return d, err
	}
	r.ends, r.claimed = d.Reason, r.ends == ""
	return d, nil
}

// commit commits what the agent left uncommitted; others are the titles of other tasks that it finished. It returns the
// commit (empty: none), and what the hooks before it said.
func (r *Run) commit(ctx context.Context, t task.Task, from state.Origin, others ...string) (oid string, v hooks.Verdict) {
	if !r.o.AutoCommit {
		return "", v
	}
	l := r.ledger
	if l.KilledTitle != "" {
		others = append(slices.Clone(others), l.KilledTitle)
	}
	refused := func() bool { return v.Block || v.Skip || v.Abort }
	done, err := r.worker.Commit(ctx, r.assignment(t, from, nil), output.CommitOf(r.prefix(t), t, from, others...),
		func(commit func() (state.Commit, error)) (state.Commit, error) {
			v = r.runHooks(ctx, hooks.PreCommit, from, t, hooks.Facts{Agent: l.Last.Agent, Files: l.Last.Work.Change.Files})
			if refused() {
				return state.Commit{}, errors.New(v.Why)
			}
			return commit()
		})
	left := done.Refused
	switch {
	case err != nil: // a failed commit does not end the run
		left = []state.Refusal{{File: output.AllWork, Why: err.Error()}}
		if slices.Contains(l.Uncommitted, left[0]) { // it was said already
			return "", v
		}
		r.d.Log.Warn("nothing was committed", logs.KeyError, err)
		if !refused() { // else it is what the user's hook wants
			l.Items.Uncommitted = err.Error()
		}
		done = state.Commit{Why: err.Error()}
	case done.OID != "":
		l.Uncommitted, l.Items.Uncommitted, l.KilledTitle = output.Committed(l.Uncommitted), "", ""
	case len(left) == 0:
		return "", v
	}
	l.Uncommitted = output.Uncommitted(l.Uncommitted, left)
	r.out.Status(func(s *state.Status) { s.Uncommitted = l.Uncommitted })
	l.Tell(from, done)
	return done.OID, v
}

// uncounted ends a job that is no iteration. It gives calls back to the hour.
func (r *Run) uncounted(res turn.Result, calls int, d rules.Decision) (rules.Decision, error) {
	r.ledger.End(res, d)
	r.ledger.Spend(-calls, state.Usage{})
	return d, r.ledger.SaveCalls()
}

// tellSkip reports that a person has skipped a task.
func (r *Run) tellSkip(from state.Origin, t task.Task) {
	if t.ID != "" {
		r.ledger.TellTask(from, t, state.TaskSkipped, r.inbox.Who(state.RequestSkip))
	}
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
