package runner

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/beside"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/rules/bounds"
	"ralph/runner/rules/fixed"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/turn/amend"
	"ralph/state"
)

// dir is where the run itself runs checks: the project, or the worktree that results are merged into.
func (r *Run) dir() string {
	if r.crew != nil {
		return r.crew.Base()
	}
	return r.d.Dir
}

// inWorktrees opens worktrees if the options ask for them, and runs the loop.
func (r *Run) inWorktrees(ctx context.Context) (rules.Decision, error) {
	err := r.o.SlotOptions.Check()
	if err == nil && !r.o.Worktrees() {
		return r.loop(ctx)
	}
	r.o.SlotOptions = r.o.Spread()
	var mayMerge func(*crew.Job, string, []string) string
	if r.hooks.Has(hooks.PreMerge, hooks.PostMerge) {
		mayMerge = r.mayMerge
	}
	if err == nil {
		r.crew, err = crew.Open(ctx, crew.Options{SlotOptions: r.o.SlotOptions, Dir: r.d.Dir, Plan: r.plan.File,
			Numbered: r.past.numbered, Run: r.d.RunID, Ralph: r.d.Start.Version,
			Prefix: func(t task.Task) string { return r.panel.Prefix(r.o.CommitPrefix, t) },
			Env:    r.d.Env, Secure: r.d.Filter.Checks(r.d.Env), Log: r.d.Log, Worker: r.newWorker, Merge: mayMerge})
	}
	if unfit := (*slots.UnfitError)(nil); errors.As(err, &unfit) {
		return fixed.Decide(fixed.Unfit, unfit.Why), nil
	}
	if err != nil {
		return rules.Decision{}, err
	}
	r.worker.Env, r.worker.Trust = r.crew.Env(), r.crew.Trust()
	for _, id := range r.crew.Recall(ctx) {
		r.mark(id, task.Done, "")
	}
	return r.loop(ctx)
}

// closeWorktrees ends work in worktrees. If there are commits that the checkout does not have, it
// adds to d how to get them.
func (r *Run) closeWorktrees(d rules.Decision) rules.Decision {
	if r.crew == nil {
		return d
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.crew.Follow(ctx)
	if n := r.crew.Left(ctx); n > 0 {
		where := "to get what is finished: git merge " + r.crew.Branch()
		r.d.Log.Warn("some commits are not in the checkout", "branch", r.crew.Branch(), "commits", n)
		if d.Next != "" {
			where += "; " + d.Next
		}
		d.Next = where
	}
	r.crew.Close(ctx)
	r.leavePlan(ctx)
	return d
}

// leavePlan lets the end say that the ticks are not committed: what lands never contains the plan.
func (r *Run) leavePlan(ctx context.Context) {
	root, _ := git.Root(r.d.Dir)
	rel, err := filepath.Rel(root, r.plan.File.Path)
	now, failed := git.Observe(ctx, r.d.Dir)
	if err == nil && failed == nil && r.mem.Iterations > 0 && now.Dirty(filepath.ToSlash(rel)) {
		r.uncommitted = output.Uncommitted(r.uncommitted, []state.Refusal{{File: r.plan.File.Name,
			Why: "work in worktrees lands without the plan; its ticks are yours to commit"}})
	}
}

// beside is the loop for turns side by side:
//
//	room and a task that may start? --> start
//	else --> wait for news of those under way --> an event, or a turn that is done --> conclude
func (r *Run) beside(ctx context.Context) (rules.Decision, error) {
	var over rules.Decision // the run stops when those under way are done
	for {
		if err := r.inbox.Broken(); err != nil {
			return over, r.drain(err)
		}
		if over.Action != state.ActionStop && r.crew.Open() {
			d, started, err := r.startNext(ctx)
			switch {
			case err != nil:
				return over, r.drain(err)
			case d.Action == state.ActionStop:
				over = d
			case started:
				continue
			}
		}
		if len(r.crew.Busy()) == 0 {
			if over.Action == state.ActionStop {
				return over, nil
			}
			continue
		}
		d, err := r.listen(ctx)
		if err != nil {
			return over, r.drain(err)
		}
		if d.Action == state.ActionStop && (over.Action != state.ActionStop || d.Exit == rules.ExitComplete) {
			over = d
		}
	}
}

// drain ends all turns after a failure of ralph itself, waits for them, and returns err.
func (r *Run) drain(err error) error {
	r.crew.End("", state.RequestAbort)
	for len(r.crew.Busy()) > 0 {
		switch n := <-r.crew.News(); {
		case n.Done != nil:
			r.crew.Release(n.Done.Job)
		case n.Do != nil:
			n.Do()
		}
	}
	return err
}

// startNext starts a turn if one may start. started is also true when it waited, paused or
// skipped a task: the loop then asks again.
func (r *Run) startNext(ctx context.Context) (d rules.Decision, started bool, err error) {
	if len(r.crew.Busy()) > 0 {
		next, ok := r.nextBeside(ctx)
		if !ok {
			return d, false, nil
		}
		d, err = r.start(ctx, next)
		return d, true, err
	}
	r.crew.CatchUp()
	if err := r.crew.Sync(ctx, r.assignment(task.Task{}), r.worker, r.handleEvent); err != nil && ctx.Err() == nil {
		return d, false, err
	}
	if err := r.worker.Ready(ctx, r.assignment(task.Task{})); err != nil && ctx.Err() == nil {
		return d, false, err
	}
	d, next, err := r.admit(ctx)
	if err != nil || d.Action == state.ActionStop {
		return d, false, err
	}
	if d.Action != state.ActionWait && !r.crew.Suits(next) {
		r.crew.Later(next.ID, time.Now().Add(noWorker))
		r.d.Log.Warn("no worker of the fleet can take a task; it waits", logs.KeyTask, next.ID, "worker", next.Worker)
	}
	if now := time.Now(); d.Action != state.ActionWait && r.crew.Waits(next.ID, now) {
		other, ok := r.rule(now).Next(r.plan.Read().List)
		if next = other; !ok {
			d = fixed.Decide(fixed.Retries, "all tasks wait for their next try")
			d.Until = r.crew.Wait(now)
		}
	}
	switch {
	case d.Action == state.ActionWait:
		r.announce(d)
		err := r.wait(ctx, d)
		if time.Now().Before(d.Until) {
			r.crew.Go() // ralph resume ended the wait
		}
		return rules.Decision{}, true, err
	case r.inbox.TakePause():
		return rules.Decision{}, true, r.pause(ctx)
	case r.inbox.Take(state.RequestSkip) != "":
		r.skip(next, true)
		return rules.Decision{}, true, nil
	}
	d, err = r.start(ctx, next)
	return d, true, err
}

// rule says which tasks may run beside those under way.
func (r *Run) rule(now time.Time) beside.Rule {
	return beside.Rule{Busy: r.crew.Busy(), Files: r.crew.Files(), Any: r.o.ParallelAny, Out: func(t task.Task) bool {
		n := r.tasks.Of(t.ID)
		return n.Aside.Why != "" || n.Skipped || n.Waits || r.crew.Waits(t.ID, now) || !r.crew.Suits(t)
	}}
}

// nextBeside is a task that may start beside those under way, if the limits of the run allow one.
func (r *Run) nextBeside(ctx context.Context) (task.Task, bool) {
	if bounds.Wish(ctx, r.inbox) != nil || r.inbox.Has(state.RequestPause) {
		return task.Task{}, false
	}
	now, plan := time.Now(), r.plan.Read()
	if _, err := r.asked.Waiting(plan.List); err != nil {
		return task.Task{}, false // admit returns this error once no turn is under way
	}
	next, ok := r.rule(now).Next(plan.List)
	if !ok || r.crew.Room(ctx, next) == 0 {
		return next, false
	}
	f := rules.Admission{Facts: r.facts(ctx, plan)}
	f.LimitedUntil = r.freeAt(next, plan.List, now)
	f.Paced = r.pool.PaceHold(r.wanted(next, plan.List), now)
	f.Memory.Iterations += len(r.crew.Jobs())
	return next, rules.Admit(f).Action == state.ActionContinue
}

// start begins a turn in a slot. The decision says why it could not.
func (r *Run) start(ctx context.Context, next task.Task) (rules.Decision, error) {
	if d, ok := r.beforeTurn(ctx, next); !ok {
		return d, nil
	}
	if r.tasks.Of(next.ID).Review.Phase != "" {
		return r.startReview(ctx, next)
	}
	if r.checks.Scope != gate.ScopeTask { // else the turn takes its baseline in its slot
		if err := r.takeBaseline(ctx, next); err != nil || ctx.Err() != nil {
			return rules.Decision{}, err
		}
	}
	if next.State == task.Open && next.ID != "" {
		r.mark(next.ID, task.Active, "")
	}
	j := r.crew.Take(next, r.mem.Iterations+1)
	a, who, err := r.assign(next)
	if err != nil {
		r.crew.Release(j)
		return fixed.Decide(fixed.Unusable, err.Error()), nil
	}
	n := r.tasks.Of(next.ID)
	n.Review, a.Then = r.panel.Begin(ctx, next, n.Review)
	r.announceAgent(next, who)
	r.begin(a)
	if err := r.counted.Wait(); err != nil {
		r.crew.Release(j)
		return rules.Decision{}, err
	}
	r.showSlots()
	r.lost(r.out.Save()) // after a kill, resume needs the number of this iteration
	r.crew.Start(ctx, j, a)
	return rules.Decision{}, nil
}

func (r *Run) showSlots() {
	slots, fleet := r.crew.Slots(), r.crew.Fleet()
	r.out.Status(func(s *state.Status) { s.Slots, s.Fleet = slots, fleet })
}

// noWorker is how long a task waits before the run looks again for a worker of the fleet.
const noWorker = 5 * time.Second

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
			if r.crew != nil {
				r.putOff(id, kind)
			}
		case kind == state.RequestPause && r.crew != nil:
			r.crew.Later(id, time.Now().Add(paused))
		case kind == state.RequestResume && r.crew != nil:
			r.crew.Later(id, time.Time{})
		}
	}
}

// putOff ends the turn of a task.
func (r *Run) putOff(id string, by state.Request) {
	r.crew.PutOff(id, by)
}

// listen waits for news, or for something that lets another turn start.
func (r *Run) listen(ctx context.Context) (rules.Decision, error) {
	var again <-chan time.Time
	if until := r.crew.Wait(time.Now()); !until.IsZero() {
		again = time.After(time.Until(until))
	}
	select {
	case n := <-r.crew.News():
		switch {
		case n.Do != nil:
			n.Do()
			r.showSlots()
			return rules.Decision{}, nil
		case n.Event != nil:
			r.handleEvent(*n.Event)
			if j := r.crew.At(n.Event.Origin); j != nil {
				tool, ok := n.Event.Data.(state.Tool)
				if ok {
					j.Tool = termtext.Line(tool.Name + " " + tool.Arg)
				}
				if ok || j.Host != n.Event.Host {
					j.Host = n.Event.Host
					r.showSlots()
				}
			}
			return rules.Decision{}, nil
		}
		return r.done(ctx, *n.Done)
	case <-r.inbox.Wake:
		switch r.taskRequests(); {
		case r.inbox.Has(state.RequestAbort):
			r.crew.End("", state.RequestAbort)
		case r.inbox.Take(state.RequestSkip) != "": // skips all tasks under way
			for id := range r.crew.Busy() {
				r.putOff(id, state.RequestSkip)
			}
		}
	case <-again:
	}
	return rules.Decision{}, nil
}

// done concludes from a turn that is over, and lets the user's checkout follow.
func (r *Run) done(ctx context.Context, d crew.Done) (rules.Decision, error) {
	defer r.showSlots()
	defer r.crew.Release(d.Job)
	r.worker.Forget()
	busy := func(id string) bool { return id != d.Job.Origin.Task && r.crew.Of(id) != nil }
	res := finished{Result: amend.WithCurrentPlan(d.Result, r.plan.Read(), d.Landed != "", busy), worker: d.Job.Worker(), dir: d.Job.Slot.Dir,
		skip: d.Job.Skip}
	if d.Landed != "" {
		r.tellOf(res.Task, state.Commit{OID: d.Landed, Landed: r.crew.Branch(),
			Files: max(res.Work.Change.Count, len(d.Files)), Refused: d.Refused()})
	}
	if res.Checks.Detect != r.checks.Detect { // it found the project's first checks
		r.checks = res.Checks
	}
	r.crew.Touched(res.Task.ID, res.Work.Change.Files)
	var decision rules.Decision
	var err error
	if s := r.reviews[res.Task.ID]; s != nil {
		delete(r.reviews, res.Task.ID)
		decision, err = r.reviewedBeside(ctx, res, d, s)
	} else {
		r.panel.Collect(d.Job.Slot.Dir, res.Task)
		decision, err = r.finish(ctx, d.Job.Context(), res, d.Err)
	}
	if err != nil {
		return decision, err
	}
	if decision.Until.After(time.Now()) && decision.Action != state.ActionStop {
		r.crew.Later(res.Task.ID, decision.Until)
	}
	if d.Landed != "" {
		r.crew.Landed(ctx, d.Work)
		if why := r.crew.Follow(ctx); why != "" {
			r.d.Log.Warn("the checkout does not follow", logs.KeyReason, why)
			r.tellOf(res.Task, state.Finding{Source: state.FoundByChecks,
				Text: "your files stay as they are: " + why + "; what is finished is on " + r.crew.Branch()})
		}
		decision = r.afterMerge(ctx, d, decision)
	}
	return decision, nil
}
