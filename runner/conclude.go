package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/agent/ending"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/hooks"
	"ralph/runner/ledger"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/session"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

const (
	// logsKept is the most that raw output and prompts may take on disk, in bytes.
	logsKept = 1 << 30
	// pruneEvery is how much new raw output there must be before logs are pruned again, in bytes.
	pruneEvery = 128 << 20
)

// conclude decides what follows from a job that is over, and waits until the next one may start.
func (r *Run) conclude(ctx context.Context, done crew.Done) (rules.Decision, error) {
	made := r.mem.Iterations
	d, err := r.settle(ctx, done)
	r.crew.Release(done.Job)
	r.showSlots()
	switch {
	case err != nil || d.Action == state.ActionStop:
	case r.crew.Apart():
		if d.Until.After(time.Now()) {
			r.crew.Delay(done.Job.Task.ID, d.Until)
		}
	default: // the next task would find the half-done files of this one
		err = r.pauseBetween(ctx, d, r.mem.Iterations > made)
	}
	return d, err
}

func (r *Run) settle(ctx context.Context, done crew.Done) (rules.Decision, error) {
	j := done.Job
	if err := r.counted.Wait(); err != nil { // of a turn that ended before its call
		return rules.Decision{}, err
	}
	r.pool.Pace.End(callKey(j.Origin))
	if r.crew.Jobs() == 1 && r.inbox.Take(state.RequestSkip) != "" { // it arrived at the last moment
		j.Skip = true
	}
	res := finished{job: j, Result: r.crew.Settle(done, r.plan.Read, r.checks)}
	if done.Landed != "" {
		r.tellOf(res.Task, state.Commit{OID: done.Landed, Landed: done.Branch,
			Files: max(res.Work.Change.Count, len(done.Files)), Refused: done.Refused()})
	}
	if done.Err == nil && j.Review == nil { // reviewers run no checks
		r.checks = res.Checks
		err := gate.SaveKnown(r.d.State.Dir(), r.checks)
		if done.Landed != "" {
			r.lost(err) // the plan first says what has landed
		} else {
			done.Err = err
		}
	}
	r.crew.Touched(res.Task.ID, res.Work.Change.Files)
	var d rules.Decision
	var err error
	if j.Review != nil {
		d, err = r.concludeReview(ctx, res, done)
	} else {
		r.panel.Collect(j.Dir(), res.Task)
		d, err = r.concludeTurn(ctx, res, done.Err)
	}
	if err != nil || done.Landed == "" {
		return d, err
	}
	if why := r.crew.Advance(ctx, done); why != "" {
		r.d.Log.Warn("the checkout does not follow", logs.KeyReason, why)
		r.tellOf(res.Task, state.Finding{Source: state.FoundByChecks,
			Text: "your files stay as they are: " + why + "; what is finished is on " + done.Branch})
	}
	return r.afterMerge(ctx, done, d), nil
}

// finished is a job that is over, and its Result as the run takes it.
type finished struct {
	turn.Result
	job   *crew.Job
	hints []string // what the next prompt says about its agent's questions
}

// concludeTurn concludes from a turn of a developer. err is the error of the turn. It is ralph's own, and ends the run,
// unless the job was ended.
func (r *Run) concludeTurn(ctx context.Context, res finished, err error) (rules.Decision, error) {
	next, work := res.Task, res.job.Context()
	if broken := r.inbox.Broken(); broken != nil {
		return rules.Decision{}, broken
	}
	if err != nil && work.Err() == nil {
		for _, o := range res.Proof.Reopen { // the next run has no reason to doubt these ticks
			r.reopen(o, res.Work.Before)
		}
		return rules.Decision{}, err
	}
	for _, q := range r.inbox.OfAgent() {
		r.tell(state.Finding{Source: state.FoundByAudit, Name: "request", Text: r.inbox.Who(q)})
	}
	if res.job.Skip { // a turn that the skip has cut off reports that itself
		r.skip(next, res.Cut == "" && !res.Proof.After.IsDone(next.ID))
	}
	if !res.Call.Made && res.Call.NotStarted == "" { // ended before the call
		goOn := rules.DecideCase(rules.CaseNotCalled, "a person ended it before the agent was called")
		r.announceEnd(res.Result, goOn)
		r.calls.Calls--
		return goOn, r.saveCalls()
	}
	keep, kept := r.inbox.AfterContext(ctx) // an abort also ends what git does after the call
	defer kept()
	res.Result, res.hints = r.asked.Limit(res.Result)
	d, err := r.apply(ctx, keep, res)
	if err != nil {
		return d, err
	}
	return r.afterTurn(keep, res.Result, d), nil
}

// spend counts what calls have used against the budgets of the run and of the hour.
func (r *Run) spend(u state.Usage) {
	r.mem.Usage = r.mem.Usage.Add(u)
	r.calls.Tokens += u.Total()
}

// apply decides what follows from a turn, and records it. It commits and keeps the work unless keep is
// cancelled.
func (r *Run) apply(ctx, keep context.Context, from finished) (rules.Decision, error) {
	res := from.Result
	r.last, r.plan.Counts = res, res.Proof.After
	damaged := res.Work.Damaged
	if r.past.lostState {
		damaged = append([]string{r.plan.Rel(r.d.State.Dir())}, damaged...)
	}
	r.settleTasks(res)
	r.keepWork(keep, res)
	now, was := time.Now(), r.mem
	r.calls = pace.ThisHour(r.calls, now)
	r.calls.Tokens += res.Call.Usage.Total()
	r.keepSession(res)
	r.mem = r.mem.After(res, len(damaged) > 0, r.o.Policy, now)
	counted := r.mem.Iterations > was.Iterations
	f := rules.Conclusion{Facts: r.facts(ctx, res.Proof.After), Result: res, Damaged: damaged,
		Causes: r.tasks.Causes(res.Task.ID)}
	if counted {
		f.Attempts = r.tasks.Of(res.Task.ID).Attempts + 1
	}
	rules.MeetLimit(&f, &r.pool, r.fallbacks(res), now)
	if res.Proof.After.Remaining == 0 && res.Proof.After.Error == "" && !f.Interrupt.Now() {
		f.Review = r.reviewItems(keep, res.Proof.Report)
	}
	d := rules.Conclude(f)
	worked := res.Progress() || res.Cut == "" && res.Call.Outcome.Class != ending.HangSilent
	r.out.Lost(r.notes.Delivered(res, counted && worked))
	if counted { // else the next prompt still needs the notes of this one
		r.notes.Begin(res)
		r.tasks.Attempted(res.Task.ID, rules.Attempt(res))
		r.out.Lost(r.asked.Settle(res, d.Rule == state.RuleQuestion))
	}
	r.notes.Add(d)
	if d.PutAside {
		r.giveUp(res, d)
	}
	if n := r.tasks.Of(res.Task.ID); n.Aside.Why != "" && !n.Aside.Marked {
		n.Aside.Marked = r.mark(res.Task.ID, task.Blocked)
	}
	r.notes.Settle(r.hints(from, damaged)...)
	if counted && res.Cut == "" && !d.PutAside {
		r.tasks.Remember(res.Task.ID, r.notes.Feedback)
	}
	r.settleDone(res)
	if err := r.save(res, was); err != nil {
		return rules.Decision{}, err
	}
	r.announceEnd(res, d)
	if !res.Call.Made || from.job.Worker() == nil {
		return d, nil // there is no state to keep
	}
	if err := from.job.Worker().Keep(keep, from.job.Dir(), output.KeptOf(res, d.Rule)); err != nil && keep.Err() == nil {
		return rules.Decision{}, err
	}
	return d, nil
}

// giveUp puts the task of a turn aside.
func (r *Run) giveUp(res turn.Result, d rules.Decision) {
	r.tasks.PutAside(res.Task.ID, d.Reason, res.ErrorText(), res.Proof.After.List)
	aside := state.TaskChange{ID: res.Task.ID, Title: res.Task.Title, State: state.TaskPutAside, Why: d.Reason}
	r.out.Event(state.NewEvent(res.Origin, time.Now(), turn.Redacted(aside)))
	r.mem.Breaker.SameError, r.mem.Breaker.LastError = 0, "" // the next task starts a new count
	r.dropNotes(d)
}

// dropNotes drops what the next prompt would say about a task that was put aside. Only with worktrees does
// the next task not see the files of that task.
func (r *Run) dropNotes(d rules.Decision) {
	if r.crew.Apart() {
		r.notes.Drop(d)
	}
}

// hints are what the next prompt says about a turn, in addition to what the decision says.
func (r *Run) hints(from finished, damaged []string) []string {
	hints := append(ledger.HintsFor(from.Result, damaged), r.tellRepeats(from.Result)...)
	if r.tasks.Of(from.Task.ID).Aside.Why != "" {
		return hints // the next turn has another task
	}
	return append(hints, from.hints...)
}

// settleTasks updates the tasks with what the turn says about them, and takes back the ticks that do not
// count.
func (r *Run) settleTasks(res turn.Result) {
	if res.Proof.GiveUp != "" && r.tasks.Of(res.Task.ID).Aside.Why == "" {
		r.mem.Breaker.NoProgress = 0 // the next task starts a new count
	}
	r.tasks.Learn(res)
	if res.Cut == state.RequestAbort { // this call may have done the work that the next run only ticks
		r.tasks.Of(res.Task.ID).CutOff = true
	}
	r.past.warned = r.past.warned || res.Proof.Warned
	r.past.findings += len(res.Proof.Findings)
	r.openItems.Add(res)
	r.worker.Miss(res)
	for _, o := range res.Proof.Reopen {
		r.reopen(o, res.Work.Before)
	}
	if res.Proof.Blocked {
		r.tellOf(res.Task,
			state.TaskChange{ID: res.Task.ID, Title: res.Task.Title, State: state.TaskBlocked,
				Why: "its agent has marked it so"})
	}
	for _, id := range res.Finished() { // also when the agent only claimed it, and set no tick
		r.mark(id, task.Done)
	}
}

// settleDone closes the records of the tasks that the turn has finished.
func (r *Run) settleDone(res turn.Result) {
	for _, id := range res.Finished() {
		r.tasks.Settled(id, res.Origin.Run, r.tasks.Proof(id, res))
		if t, _ := res.Proof.After.List.Find(id); id != res.Task.ID {
			r.out.Event(state.NewEvent(res.Origin, time.Now(), turn.Redacted(state.TaskChange{ID: id, Title: t.Title,
				State: state.TaskDone, Why: "its work is done, too: " + r.tasks.Reason(id)})))
		}
	}
}

// reopen takes one tick back. It changes nothing else in the plan.
func (r *Run) reopen(o turn.Reopen, before turn.Plan) {
	t, changed, err := r.plan.Reopen(o.Task, before, o.By == turn.ReopenReview)
	if err != nil {
		r.d.Log.Warn("a tick cannot be taken back", logs.KeyTask, o.Task, logs.KeyError, err)
	}
	is := state.TaskOpen
	if n := r.tasks.Of(o.Task); o.By == turn.ReopenReview {
		n.Review.Phase, is = r.panel.Plan(t, n.Review).Next(""), state.TaskInReview
		n.Review.Kept = r.crew.Apart()
		n.Review.Run, n.Review.Iteration = r.last.Origin.Run, r.last.Origin.Iteration
	}
	if changed {
		r.worker.Forget()
		r.tellOf(t, state.TaskChange{ID: o.Task, Title: t.Title, State: is, Why: o.Why})
	}
}

// mark writes the state of a task into the plan, if the format has a word for it.
func (r *Run) mark(id string, s task.State) (changed bool) {
	changed, err := r.plan.Mark(id, s)
	if err != nil {
		r.d.Log.Warn("a task cannot be marked", logs.KeyTask, id, logs.KeyError, err)
	}
	if changed {
		r.worker.Forget()
	}
	return changed
}

// keepWork commits what a turn has achieved, and takes the tasks that are done out of the plan.
func (r *Run) keepWork(ctx context.Context, res turn.Result) {
	if !res.Proof.Report.Blocked() && res.Call.Outcome.Class.Success() {
		r.commit(ctx, res.Task, res.Origin, res.OthersFinished()...)
		r.plan.Pop(res.Task.ID, r.d.State.Dir(), r.worker.Forget)
	}
}

// commit commits what the agent left uncommitted; others are the titles of other tasks that it finished.
func (r *Run) commit(ctx context.Context, t task.Task, from state.Origin, others ...string) {
	if !r.o.AutoCommit {
		return
	}
	var v hooks.Verdict
	message := output.CommitOf(r.prefix(t), t, from, others...)
	hooked := func(commit func() (state.Commit, error)) (state.Commit, error) {
		v = r.runHooks(ctx,
			hookMoment{Point: hooks.PreCommit, From: from, Task: t, More: hookCommits(r.last)})
		if v.Block || v.Skip || v.Abort {
			return state.Commit{}, errors.New(v.Why)
		}
		return commit()
	}
	done, err := r.worker.Commit(ctx, r.assignment(t), message, hooked)
	r.past.commit = v
	switch {
	case err != nil: // a failed commit does not end the run
		left := state.Refusal{File: output.AllWork, Why: err.Error()}
		if slices.Contains(r.uncommitted, left) { // it was said already
			return
		}
		r.d.Log.Warn("nothing was committed", logs.KeyError, err)
		r.uncommitted = output.Uncommitted(r.uncommitted, []state.Refusal{left})
		if !v.Block && !v.Skip && !v.Abort { // else it is what the user's hook wants
			r.openItems.Uncommitted = left.Why
		}
		r.out.Status(func(s *state.Status) { s.Uncommitted = r.uncommitted })
		r.out.Event(state.NewEvent(from, time.Now(), turn.Redacted(state.Commit{Why: err.Error()})))
	case done.OID != "" || len(done.Refused) > 0:
		if done.OID != "" {
			r.uncommitted, r.openItems.Uncommitted = output.Committed(r.uncommitted), ""
		}
		r.uncommitted = output.Uncommitted(r.uncommitted, done.Refused)
		r.out.Status(func(s *state.Status) { s.Uncommitted = r.uncommitted })
		r.out.Event(state.NewEvent(from, time.Now(), done))
	}
}

func (r *Run) keepSession(res turn.Result) {
	var changed bool
	if r.session, changed = session.After(r.session, res); !changed || !r.o.Continue {
		return // close saves it: nobody resumes it before the end of the run
	}
	if err := r.d.State.SaveSession(r.session); err != nil {
		r.inbox.Fail(err)
	}
}
