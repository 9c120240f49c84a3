package runner

// This file describes the moments of a run to hooks.

import (
	"context"
	"time"

	"ralph/runner/hooks"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// modeAIOS is the format of plans whose projects have the mode aios.
const modeAIOS = "AIOS"

// hookMoment is a point that a run has reached.
type hookMoment struct {
	Point hooks.Point
	From  state.Origin
	Task  task.Task          // zero: none
	More  func(*hooks.Facts) // adds what is known there; nil: nothing
}

// Facts describes the moment to a hook.
func (m hookMoment) Facts(plan turn.Plan) hooks.Facts {
	f := hooks.Facts{Run: m.From.Run, Iteration: m.From.Iteration, Mode: "standalone", Plan: plan.List.Path,
		Done: plan.Done, Total: plan.Total}
	if plan.List.Format == modeAIOS {
		f.Mode = "aios"
	}
	if t := m.Task; t.ID != "" {
		if now, known := plan.List.Find(t.ID); known {
			t = now
		}
		f.Task = &hooks.Task{ID: t.ID, Title: t.Title, Status: plan.List.Word(t), Attempt: m.From.Attempt}
	}
	if m.More != nil {
		m.More(&f)
	}
	return f
}

// hookAfter adds what a turn brought, and the decision that followed.
func hookAfter(f *hooks.Facts, res turn.Result, d rules.Decision) {
	f.Iteration, f.Agent, f.Outcome, f.Error = res.Origin.Iteration, res.Agent, string(res.Call.Outcome.Class),
		rules.LastError(res)
	f.Files, f.CostUSD, f.Rule, f.Reason = res.Work.Change.Files, res.Call.Usage.CostUSD, d.Rule, d.Reason
	if f.Task != nil {
		f.Task.Attempt = res.Origin.Attempt
	}
}

// hookCommits are the facts before a commit of what a turn left.
func hookCommits(res turn.Result) func(*hooks.Facts) {
	return func(f *hooks.Facts) { f.Agent, f.Files = res.Agent, res.Work.Change.Files }
}

// hookMerge are the facts of a commit that lands.
func hookMerge(commit string, files []string) func(*hooks.Facts) {
	return func(f *hooks.Facts) { f.Commit, f.Files = commit, files }
}

// hookEnd is the point of the end of a run.
func hookEnd(d rules.Decision) hooks.Point {
	if d.Exit == state.ExitComplete {
		return hooks.OnComplete
	}
	return hooks.OnHalt
}

// hookOver adds how a run ended.
func hookOver(f *hooks.Facts, iterations int, d rules.Decision) {
	f.Iteration, f.Rule, f.Reason, f.Exit = iterations, d.Rule, d.Reason, &d.Exit
	if d.Exit != state.ExitComplete {
		f.Error = d.Reason
	}
}

// endGrace limits the hooks at the end of a run that a person has ended.
const endGrace = 10 * time.Second

// hookLate returns the context for the hooks at the end of a run, which may be canceled already.
func hookLate(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), endGrace)
}

// hookPoints returns the points that a turn has reached, in order. aside is true when its task was put aside.
func hookPoints(res turn.Result, aside bool) []hooks.Point {
	id, limited := res.Task.ID, rules.IsLimit(res.Call.Outcome.Class)
	return hooks.After(hooks.Turn{
		Failed: res.Failed() && res.Cut == "" && !limited, Limited: limited, Asked: len(res.Call.Asks) > 0,
		Done:  id != "" && res.Proof.After.IsDone(id) && !res.Work.Before.IsDone(id),
		Aside: id != "" && aside,
	})
}
