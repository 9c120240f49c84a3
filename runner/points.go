package runner

import (
	"context"
	"time"

	"ralph/runner/crew"
	"ralph/runner/hooks"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/runner/turn/protect"
	"ralph/state"
)

// runHooks runs the hooks of a point. Without hooks it costs nothing.
func (r *Run) runHooks(ctx context.Context, m hookMoment) hooks.Verdict {
	r.hooks.Emit = func(said state.Payload) { r.handleEvent(state.NewEvent(m.From, time.Now(), turn.Redacted(said))) }
	var plan *protect.Bystander
	v := r.hooks.At(ctx, m.Point, func() hooks.Facts {
		plan = protect.Watch(r.plan.File, r.d.State.RunDir(r.d.RunID), m.From.Iteration)
		return m.Facts(r.plan.Read())
	})
	if v.Ran { // what a hook changed is not the agent's work
		r.putPlanBack(plan, m.From)
		r.worker.Forget()
		r.repairState()
	}
	if r.mem.Usage = r.mem.Usage.Add(v.Usage); v.Calls > 0 { // they count against the hour, too
		r.calls.Calls, r.calls.Tokens = r.calls.Calls+v.Calls, r.calls.Tokens+v.Usage.Total()
		r.out.Lost(r.saveCalls())
	}
	r.notes.Tell(v.Notes)
	return v
}

// putPlanBack takes back what hooks changed in tasks of the plan, and says so.
func (r *Run) putPlanBack(plan *protect.Bystander, from state.Origin) {
	found, err := plan.Settle(store.EditsSince(r.plan.File), nil, nil)
	r.out.Lost(err)
	for _, f := range found {
		r.handleEvent(state.NewEvent(from, time.Now(), turn.Redacted(state.Finding{Source: state.FoundByAudit,
			Name: string(f.Kind), Task: f.Task, Doubt: true, Text: "a hook ran: " + f.Text})))
	}
}

// beforeTurn runs the pre_task and pre_iteration hooks. start is false when the turn must not begin.
func (r *Run) beforeTurn(ctx context.Context, t task.Task) (d rules.Decision, start bool) {
	if err := r.panel.Check(t, r.tasks.Of(t.ID).Review); err != nil {
		return rules.DecideCase(rules.CaseUnusable, err.Error()), false
	}
	var v hooks.Verdict
	from := r.origin(t)
	if t.ID != "" && t.ID != r.hooked && r.tasks.Of(t.ID).Attempts == 0 {
		v = r.runHooks(ctx, hookMoment{Point: hooks.PreTask, From: from, Task: t})
	}
	if v.Why == "" {
		v = r.runHooks(ctx, hookMoment{Point: hooks.PreIteration, From: from, Task: t})
	}
	r.hooked = t.ID
	r.notes.Settle()
	return r.obey(v, t)
}

// obey does what the hooks want: it puts the task aside, or stops the run.
func (r *Run) obey(v hooks.Verdict, t task.Task) (d rules.Decision, goOn bool) {
	switch {
	case v.Why == "":
		return rules.Decision{}, true
	case v.Abort || t.ID == "":
		d = rules.DecideCase(rules.CaseHook, v.Why)
		r.announce(d)
		return d, false
	case r.tasks.Of(t.ID).Aside.Why == "":
		r.putAside(t, v.Why)
	}
	return rules.Decision{Action: state.ActionContinue}, false
}

// afterTurn runs the hooks of the points that a turn reached. It returns d, or the stop that a hook asked for.
func (r *Run) afterTurn(ctx context.Context, res turn.Result, d rules.Decision) rules.Decision {
	apply := func(v hooks.Verdict) {
		good := d.Action == state.ActionStop && d.Exit == state.ExitComplete // a run that a hook aborts is not complete
		if d.Action != state.ActionStop && v.Skip && !res.Proof.After.IsDone(res.Task.ID) || v.Abort &&
			(d.Action != state.ActionStop || good) {
			if stop, _ := r.obey(v, res.Task); stop.Action == state.ActionStop {
				d = stop
			} else {
				r.dropNotes(d)
			}
		}
	}
	apply(r.past.commit)
	apply(r.past.mergeVetoes[res.Task.ID])
	r.past.commit = hooks.Verdict{}
	delete(r.past.mergeVetoes, res.Task.ID)
	for _, p := range hookPoints(res, r.tasks.Of(res.Task.ID).Aside.Why != "") {
		apply(r.runHooks(ctx, hookMoment{Point: p, From: res.Origin, Task: res.Task,
			More: func(f *hooks.Facts) { hookAfter(f, res, d) }}))
	}
	if len(r.hooks.Hooks) > 0 {
		r.notes.Settle()
		r.showDecision(d)
	}
	return d
}

// mayMerge runs the hooks before a commit goes into the merge queue. why says why it must not; empty: it may.
func (r *Run) mayMerge(j *crew.Job, commit string, files []string) (why string) {
	ctx, done := r.inbox.AfterContext(j.Context()) // an abort must end the hooks, too
	defer done()
	v := r.runHooks(ctx, hookMoment{Point: hooks.PreMerge, From: j.Origin, Task: j.Task,
		More: hookMerge(commit, files)})
	if v.Why != "" {
		r.past.mergeVetoes[j.Task.ID] = v
	}
	return v.Why
}

// afterMerge runs the hooks after a commit has landed. It returns then, or the stop that a hook asked for.
func (r *Run) afterMerge(ctx context.Context, d crew.Done, then rules.Decision) rules.Decision {
	v := r.runHooks(ctx, hookMoment{Point: hooks.PostMerge, From: d.Job.Origin, Task: d.Job.Task,
		More: hookMerge(d.Landed, d.Files)})
	if v.Abort && (then.Action != state.ActionStop || then.Exit == state.ExitComplete) {
		then, _ = r.obey(v, d.Job.Task)
	}
	r.notes.Settle()
	return then
}

// atStart runs the hooks of the start of the run. goOn is false when one of them stops it.
func (r *Run) atStart(ctx context.Context) (d rules.Decision, goOn bool) {
	ctx, done := r.inbox.AfterContext(ctx)
	defer done()
	return r.obey(r.runHooks(ctx,
		hookMoment{Point: hooks.RunStart, From: state.Origin{Run: r.d.RunID, Host: r.host}}),
		task.Task{})
}

// atEnd runs the hooks of the end of the run. They cannot change how it ends.
func (r *Run) atEnd(ctx context.Context, d rules.Decision) {
	ctx, done := hookLate(ctx)
	defer done()
	r.runHooks(ctx, hookMoment{Point: hookEnd(d), From: state.Origin{Run: r.d.RunID, Host: r.host},
		Task: r.last.Task, More: func(f *hooks.Facts) { hookOver(f, r.mem.Iterations, d) }})
	r.notes.Settle() // for the first prompt after ralph resume
	r.out.Status(func(s *state.Status) { s.NextPrompt = r.notes.NextPrompt })
}
