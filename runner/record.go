package runner

import (
	"errors"
	"maps"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/agent"
	"ralph/runner/ledger"
	"ralph/runner/output"
	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// announce reports a decision that was made without a turn.
func (r *Run) announce(d rules.Decision) {
	r.showDecision(d)
	r.tell(decisionOf(d))
}

func decisionOf(d rules.Decision) state.Decision {
	return state.Decision{Action: d.Action, Rule: d.Rule, Reason: d.Reason, WakeAt: d.Until}
}

func (r *Run) showDecision(d rules.Decision) {
	r.out.Status(func(s *state.Status) {
		r.showCalls(s)
		s.Rule, s.Reason, s.LoopCount, s.Usage = d.Rule, d.Reason, r.mem.Iterations, r.mem.Usage
		s.Breaker = state.BreakerStatus{State: r.mem.Breaker.State, Reason: r.mem.Breaker.Reason}
		s.EndsWhen = r.endsWhen(s.Task.ID)
		s.LimitedUntil, s.Tasks, s.NextPrompt = maps.Clone(r.pool.Limits), r.tasks.Kept(), r.notes.NextPrompt
		s.WindowUse = r.pool.Pace.Kept()
		s.Review = slices.Clone(r.openItems.Items) // they must survive a kill
	})
}

func (r *Run) endsWhen(task string) []state.Bound {
	attempts, tries := r.tasks.Used(task)
	f := rules.Facts{Policy: r.o.Policy, Memory: r.mem, Started: r.past.started, Window: r.d.Window}
	return rules.BoundsUsed(f, attempts, tries)
}

// announceEnd reports a turn and what follows from it.
func (r *Run) announceEnd(res turn.Result, d rules.Decision) {
	o := res.Call.Outcome
	r.d.Log.Info("iteration ended", logs.KeyIteration, res.Origin.Iteration, logs.KeyOutcome, o.Class,
		logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "files", res.Work.Change.Count,
		"call_seconds", res.Duration.Seconds())
	for _, t := range res.Call.Advised {
		r.d.Log.Warn("a compound command was denied although each part is allowed", "command", t.Arg, "add",
			agent.AllowEntry(t.Name, t.Arg))
	}
	if res.Call.Leftover > 0 {
		r.d.Log.Warn("ended processes that the agent left behind", "count", res.Call.Leftover, logs.KeyIteration,
			res.Origin.Iteration)
	}
	r.past.decided = d.Reason
	r.showDecision(d)
	r.out.Status(func(s *state.Status) { output.ShowEnd(s, res, logs.Redact(rules.LastError(res))) })
	end := output.EndOf(res)
	end.Decision = decisionOf(d)
	r.out.Event(state.NewEvent(res.Origin, time.Now(), turn.Redacted(end)))
	if r.past.printed += res.Call.Printed; r.past.printed > pruneEvery {
		r.past.printed = 0
		r.out.Lost(logs.Prune(r.d.State.LogsDir(), logsKept))
	}
}

// learn stores the lessons that the turn reports, and reports those that it refuses.
func (r *Run) learn(res turn.Result) {
	refused, err := r.learned.Learn(res, time.Now())
	if err != nil { // a run can do without them
		r.d.Log.Warn("no lessons", logs.KeyError, err)
	}
	for _, f := range refused {
		r.out.Event(state.NewEvent(res.Origin, time.Now(), turn.Redacted(f)))
	}
	if r.learned.Wrote { // into a file of the project
		r.worker.Forget()
	}
}

// tellRepeats reports tools that fail again and again, and returns what the agent is told.
func (r *Run) tellRepeats(res turn.Result) []string {
	found, hints := ledger.RepeatedAdvice(r.mem.Repeats(res), res.Task.ID)
	for _, f := range found {
		r.out.Event(state.NewEvent(res.Origin, time.Now(), turn.Redacted(f)))
	}
	return hints
}

// save writes what the next run, or the next iteration after a crash, needs.
// It writes the files at the same time, because each waits for the disk, and does not wait for them:
// the next call does.
func (r *Run) save(res turn.Result, was rules.Memory) error {
	r.learn(res)
	if err := r.saved.Wait(); err != nil { // of another turn: no call has begun since
		return err
	}
	w, b, calls := r.d.State, r.mem.Breaker, r.calls
	breaker := func() error { return w.SaveBreaker(b) }
	if b.State != was.Breaker.State {
		r.mem.Breaker = was.Breaker
		breaker = r.moveBreaker(b)
	}
	if r.mem.Iterations > was.Iterations {
		output.Signal(&r.signals, res)
	}
	signals := r.signals
	r.saved.Begin(breaker, func() error { return w.SaveCalls(calls) }, func() error { return w.SaveSignals(signals) })
	analysis := output.AnalysisOf(res)
	r.analysis.Put(func() error { return w.SaveAnalysis(analysis) }) // nothing depends on it: watch writes it soon
	return nil
}

// saveCalls counts on disk what is no turn of its own.
func (r *Run) saveCalls() error {
	return errors.Join(r.saved.Wait(), r.d.State.SaveCalls(r.calls))
}

// moveBreaker puts the breaker into a new state. write saves it, and adds the change to its history.
func (r *Run) moveBreaker(b state.Breaker) (write func() error) {
	from := r.mem.Breaker.State
	r.mem.Breaker = b
	r.d.Log.Info("circuit breaker", "from", from, "to", b.State, logs.KeyReason, b.Reason)
	if r.out != nil {
		r.out.Status(func(s *state.Status) { s.Breaker = state.BreakerStatus{State: b.State, Reason: b.Reason} })
	}
	change := state.BreakerChange{Timestamp: time.Now(), Loop: b.CurrentLoop, FromState: from, ToState: b.State,
		Reason: b.Reason}
	return func() error {
		return ledger.SideBySide(func() error { return r.d.State.SaveBreaker(b) },
			func() error { return r.d.State.AddBreakerChange(change) })
	}
}
