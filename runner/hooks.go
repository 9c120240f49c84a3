package runner

// This file runs the user's hooks.

import (
	"cmp"
	"context"
	"time"

	"ralph/runner/crew"
	"ralph/runner/hooks"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/runner/turn/protect"
	"ralph/state"
)

// modeAIOS is the format of plans whose projects have the mode aios.
const modeAIOS = "AIOS"

// endGrace is how long hooks may take at the end of a run that a person has ended.
const endGrace = 10 * time.Second

// runHooks runs the hooks of a point. f has what is known there besides the run, its plan and the task (zero: none). Without
// hooks it costs nothing.
func (r *Run) runHooks(ctx context.Context, p hooks.Point, from state.Origin, t task.Task, f hooks.Facts) hooks.Verdict {
	l := r.ledger
	tell := func(p state.Payload) { r.handleEvent(state.NewEvent(from, time.Now(), turn.Redacted(p))) }
	r.hooks.Emit = tell
	var bystander *protect.Bystander
	v := r.hooks.At(ctx, p, func() hooks.Facts {
		bystander = protect.Watch(l.Plan.File, r.d.State.RunDir(l.RunID), from.Iteration)
		plan := l.Plan.Read()
		f.Run, f.Iteration, f.Mode = from.Run, max(f.Iteration, from.Iteration), "standalone"
		f.Plan, f.Done, f.Total = plan.List.Path, plan.Done, plan.Total
		if plan.List.Format == modeAIOS {
			f.Mode = "aios"
		}
		if now, known := plan.List.Find(t.ID); known {
			t = now
		}
		if t.ID != "" {
			f.Task = &hooks.Task{ID: t.ID, Title: t.Title, Status: plan.List.Word(t), Attempt: from.Attempt}
		}
		return f
	})
	if v.Ran { // what a hook changed is not the agent's work
		found, err := bystander.Settle(nil, nil)
		r.out.Lost(err)
		for _, f := range found {
			tell(state.Finding{Source: state.FoundByAudit, Name: string(f.Kind), Task: f.Task, Doubt: true,
				Text: "a hook ran: " + f.Text})
		}
		r.worker.Forget()
		r.repairState()
	}
	if l.Spend(v.Calls, v.Usage); v.Calls > 0 { // they count against the hour, too
		r.out.Lost(l.SaveCalls())
	}
	l.Notes.Tell(v.Notes)
	r.ends = cmp.Or(v.Ends, r.ends)
	return v
}

// hooksAtStart runs the hooks of the start of the run. goOn is false when one of them stops it.
func (r *Run) hooksAtStart(ctx context.Context) (d rules.Decision, goOn bool) {
	ctx, done := r.inbox.Until(ctx, state.RequestAbort)
	defer done()
	from := state.Origin{Run: r.ledger.RunID, Host: r.ledger.Host}
	return r.applyVerdict(r.runHooks(ctx, hooks.RunStart, from, task.Task{}, hooks.Facts{}), from, task.Task{})
}

// hooksBefore runs the pre_task and pre_iteration hooks of a job. goOn is false when it must not begin.
func (r *Run) hooksBefore(ctx context.Context, j *crew.Job) (d rules.Decision, goOn bool) {
	if err := r.panel.Check(j.Task, j.Record.Review); err != nil {
		return rules.DecideCase(rules.CaseUnusable, err.Error()), false
	}
	var v hooks.Verdict
	if j.Task.ID != "" && !j.Record.PreTaskRan && j.Record.Attempts == 0 {
		v = r.runHooks(ctx, hooks.PreTask, j.Origin, j.Task, hooks.Facts{})
	}
	if v.Why == "" {
		v = r.runHooks(ctx, hooks.PreIteration, j.Origin, j.Task, hooks.Facts{})
	}
	j.Record.PreTaskRan = true
	r.ledger.Notes.Settle()
	return r.applyVerdict(v, j.Origin, j.Task)
}

// applyVerdict does what the hooks want: it puts the task aside, or stops the run.
func (r *Run) applyVerdict(v hooks.Verdict, from state.Origin, t task.Task) (d rules.Decision, goOn bool) {
	switch {
	case v.Why == "":
		return rules.Decision{}, true
	case v.Abort || t.ID == "":
		d = rules.DecideCase(rules.CaseHook, v.Why)
		r.ledger.Announce(d)
		return d, false
	case r.ledger.Tasks.Of(t.ID).Aside.Why == "":
		r.ledger.PutAside(from, t, v.Why)
	}
	return rules.Decision{Action: state.ActionContinue}, false
}

// finish keeps the state of the files after a job, and runs the hooks of the points that it reached. It returns d, or the
// stop that a hook asked for: one of these, or one of those before its commit.
func (r *Run) finish(ctx context.Context, j *crew.Job, res turn.Result, d rules.Decision, commit hooks.Verdict) (rules.Decision, error) {
	if j.Worker != nil && res.Call.Made {
		if err := j.Worker.Keep(ctx, j.Assignment.Dir, output.KeptOf(res, d.Rule)); err != nil && ctx.Err() == nil {
			return rules.Decision{}, err
		}
	}
	r.writeReceipt(ctx, j, res)
	l, id := r.ledger, res.Task.ID
	r.ends, r.claimed = "", false
	done := res.Proof.After.IsDone(id)
	apply := func(v hooks.Verdict) {
		stops := d.Action == state.ActionStop
		good := stops && d.Exit == state.ExitComplete // a run that a hook aborts is not complete
		if !stops && v.Skip && !done || v.Abort && (!stops || good) {
			if stop, _ := r.applyVerdict(v, res.Origin, res.Task); stop.Action == state.ActionStop {
				d = stop
			} else {
				l.DropNotes(d)
			}
		}
	}
	apply(commit)
	limited := rules.IsLimit(res.Call.Outcome.Class)
	for _, p := range hooks.After(hooks.Turn{
		Failed: res.Failed() && res.Cut == "" && !limited, Limited: limited, Asked: len(res.Call.Asks) > 0,
		Done:  id != "" && done && !res.Work.Before.IsDone(id),
		Aside: id != "" && l.Tasks.Of(id).Aside.Why != "",
	}) {
		apply(r.runHooks(ctx, p, res.Origin, res.Task, hooks.Facts{Agent: res.Agent,
			Outcome: string(res.Call.Outcome.Class), Error: rules.LastError(res), Files: res.Work.Change.Files,
			CostUSD: res.Call.Usage.CostUSD, Rule: d.Rule, Reason: d.Reason}))
	}
	if len(r.hooks.Hooks) > 0 {
		l.Notes.Settle()
		l.ShowDecision(d)
	}
	return d, nil
}

// hooksAtEnd runs the hooks of the end of the run. They cannot change how it ends.
func (r *Run) hooksAtEnd(ctx context.Context, d rules.Decision) {
	if ctx.Err() != nil {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), endGrace)
		defer done()
	}
	l := r.ledger
	p, f := hooks.OnComplete, hooks.Facts{Iteration: l.Memory.Iterations, Rule: d.Rule, Reason: d.Reason, Exit: &d.Exit}
	if d.Exit != state.ExitComplete {
		p, f.Error = hooks.OnHalt, d.Reason
	}
	r.runHooks(ctx, p, state.Origin{Run: l.RunID, Host: l.Host}, l.Last.Task, f)
	l.Notes.Settle() // for the first prompt after ralph resume
	r.out.Status(func(s *state.Status) { s.NextPrompt = l.Notes.NextPrompt })
}
