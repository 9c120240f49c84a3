// Package ledger keeps what a run knows: of itself, of its plan, and of each task.
package ledger

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/runner/agent/ending"
	"ralph/runner/gate"
	"ralph/runner/memory"
	"ralph/runner/output"
	"ralph/runner/pool"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/task/records"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/state"
)

// Ledger is what a run knows. Count, Take and Record change it around a turn, ApplyReview after a review. Record writes what
// the next run, or the next iteration after a crash, needs.
type Ledger struct {
	RunID, Host string
	Policy      rules.Policy
	Continue    bool           // agents resume their session
	Until       time.Time      // when the run ends at the latest; zero: no bound
	InWorktrees bool           // jobs work in worktrees
	State       *state.Writer  // nil: a preview, which writes nothing
	Out         *output.Output // nil: the run is not open yet
	Log         hclog.Logger

	// What the rules and limits count. A resumed run continues it.
	Started time.Time
	Memory  rules.Memory
	Calls   state.Calls
	Session state.Session
	Pool    pool.Pool

	Plan   PlanBook
	Tasks  Records
	Checks turn.Checks

	Asked   Questions
	Notes   Notes
	Learned *memory.Book

	// What a person has to look at.
	Items       OpenItems
	Uncommitted []state.Refusal // files that no commit of this run took
	Findings    int             // number of findings of the audit

	// What the run before left.
	Continues        string    // its id, if it did not complete; else empty
	Unfinished       bool      // it did not complete
	UncheckedTick    string    // task of a killed call whose tick no check saw; empty: none
	KilledCallBegan  time.Time // when that call began
	KilledTitle      string    // title of that task, once its tick counts and until its work is committed
	HighestIteration int       // the highest iteration that was under way when it was killed

	// Of the latest turn.
	Last      turn.Result
	Warned    bool // the end was put off once, because its proof became weaker
	StateLost bool // the state directory was damaged during the latest call

	// FirstReview is the phase that a finished task goes through first; empty: none.
	FirstReview func(t task.Task, n state.Reviewing) string

	prices       prices
	toldUnpriced bool         // that MAX_COST_USD does not see a call
	memoryBefore rules.Memory // before the latest turn
	idleSince    time.Time    // since when the run can do nothing but wait for answers; zero: it can
	signals      state.Signals
	printed      int64 // raw output since the last pruning, in bytes
	writes       writes
}

const (
	// logsKept is the most that raw output and prompts may take on disk, in bytes.
	logsKept = 1 << 30
	// pruneEvery is how much new raw output there must be before logs are pruned again, in bytes.
	pruneEvery = 128 << 20
)

// Recall reads what earlier runs left. With try, a person resumes the run: it forgets usage limits if no agent is free.
func (l *Ledger) Recall(resumed, try bool, wanted string) (old state.Status, err error) {
	l.Started = time.Now()
	w := l.State
	old, _ = w.Status() // unusable ones were set aside when the lock was taken
	var errs [3]error
	l.Memory.Breaker, errs[0] = w.Breaker()
	l.Calls, errs[1] = w.Calls()
	l.Session, errs[2] = w.Session()
	if err := errors.Join(errs[:]...); err != nil {
		return old, err
	}
	if err := w.ClearRun(); err != nil {
		return old, err
	}
	if resumed {
		l.Memory.Usage, l.Memory.Iterations = old.Usage, old.LoopCount
		for _, s := range old.Slots { // a kill may come after an iteration ended and before it was counted
			l.HighestIteration = max(l.HighestIteration, s.Iteration)
		}
		if ran := old.Timestamp.Sub(old.StartedAt); ran > 0 && !old.StartedAt.IsZero() {
			l.Started = l.Started.Add(-ran) // the time between the runs does not count
		}
	}
	l.Tasks.Recall(old.Tasks)
	l.Items.Recall(old)
	if l.Unfinished = old.Unsettled(); l.Unfinished {
		l.Continues, l.Notes.NextPrompt = old.RunID, old.NextPrompt
	}
	if old.Task.ID != "" && old.Ending() == state.EndingKilled && old.Status == state.StatusRunning {
		if a, err := l.Pool.Find(old.Agent); err == nil && resumed && old.Phase == state.PhaseAgent && a.Spec.CostNote() == "" {
			l.Memory.Usage.UnpricedCalls += max(1, len(old.Slots))
		}
		l.Tasks.Of(old.Task.ID).CutOff = true // the killed call may have done the work, and the next one only ticks it
		l.UncheckedTick, l.KilledCallBegan = old.Task.ID, old.IterationStartedAt
	}
	l.Pool.Recall(old.LimitedUntil, wanted, try)
	l.Pool.Pace.Used = old.WindowUse
	l.Notes.people = state.Notes(w.Reader)
	l.Asked = openQuestions(l)
	return old, l.renewBreaker(resumed)
}

// renewBreaker begins the counts of a new run at zero. An open breaker stays open until
// it has cooled down, unless AUTO_RESET closes it.
func (l *Ledger) renewBreaker(resumed bool) error {
	was, closed := l.Memory.Breaker, l.Memory.Breaker.Closed()
	if !l.Policy.AutoReset && (resumed || was.State == state.BreakerOpen) {
		return nil
	}
	if was.State == state.BreakerClosed {
		l.Memory.Breaker = closed
		return nil
	}
	closed.Reason, closed.LastChange = "reset at the start of a run", l.Started
	return l.moveBreaker(closed)()
}

// Origin is that of events about a task in the next iteration.
func (l *Ledger) Origin(t task.Task) state.Origin {
	rec := l.Tasks.look(t.ID)
	role := roles.ByPhase(rec.Review.Phase)
	o := state.Origin{Run: l.RunID, Host: l.Host, Iteration: l.Memory.Iterations + 1, Task: t.ID, Role: role.Name,
		Reviews: role.Reviews()}
	if t.ID != "" {
		o.Attempt = rec.Attempts + 1
		if o.Reviews { // a review is of the latest attempt
			o.Attempt = max(o.Attempt-1, 1)
		}
	}
	return o
}

// Tell reports an event.
func (l *Ledger) Tell(from state.Origin, p state.Payload) {
	l.Out.Event(state.NewEvent(from, time.Now(), turn.Redacted(p)))
}

// Admission is what the first table of rules looks at, and the task that is next. stop is a person's request to end the run;
// nil: there is none.
func (l *Ledger) Admission(stop *rules.Interrupt) (f rules.Admission, next task.Task, err error) {
	now, plan := time.Now(), l.Plan.Read()
	l.Calls = pace.ThisHour(l.Calls, now)
	if b := rules.CoolDown(l.Memory.Breaker, l.Policy, now); b.State != l.Memory.Breaker.State {
		if err := errors.Join(l.Wait(), l.moveBreaker(b)()); err != nil {
			return f, next, err
		}
	}
	f.Facts = l.facts(plan, stop)
	waiting, err := l.Asked.Waiting(plan.List)
	if err != nil {
		return f, next, err
	}
	next, open := l.Tasks.Choose(plan.List)
	if plan.Remaining > 0 && !open {
		f.Blocked, f.Never, f.PutAside = l.Tasks.Stuck(plan.List, store.JournalReasons(l.Plan.File.Edits))
	}
	if len(waiting) == 0 || open || plan.Total > 0 && plan.Remaining == 0 {
		l.idleSince = time.Time{}
		return f, next, nil
	}
	if l.idleSince.IsZero() {
		l.idleSince = now
	}
	f.WaitingSince = l.idleSince
	for _, q := range waiting {
		f.Waiting = append(f.Waiting, QuestionText(q))
	}
	return f, next, nil
}

func (l *Ledger) facts(plan turn.Plan, stop *rules.Interrupt) rules.Facts {
	return rules.Facts{Policy: l.Policy, Memory: l.Memory, Plan: plan, HadPlan: l.Plan.Had, Calls: l.Calls,
		Started: l.Started, Now: time.Now(), End: l.Until, Interrupt: stop}
}

// callKey identifies a call among those under way.
func callKey(of state.Origin) string { return strconv.Itoa(of.Iteration) + "/" + of.Task }

// Count counts a call on disk before it is made. The write goes on until Wait.
func (l *Ledger) Count(a turn.Assignment) {
	l.Calls = pace.ThisHour(l.Calls, time.Now())
	l.Calls.Calls++
	p := a.Prompt
	l.StateLost = false
	l.Pool.Pace.Begin(callKey(a.Origin), a.Agent.Spec.Name, a.Agent.Model)
	l.Out.Status(func(s *state.Status) {
		s.Status, s.Phase = state.StatusRunning, state.PhaseAgent
		s.IterationStartedAt, s.LastTool, s.WakeAt, s.Rule, s.Reason = time.Now(), "", time.Time{}, "", ""
		s.Task = state.TaskStatus{ID: a.Task.ID, Title: a.Task.Title, Done: p.Done, Total: p.Total}
		l.Show(s)
	})
	start := state.IterationStart{Title: a.Task.Title, Agent: a.Agent.Spec.Name, Model: a.Agent.Model, Done: p.Done,
		Total: p.Total}
	start.Why = output.WithoutTask(start, l.Memory.Contradiction != "")
	l.Tell(a.Origin, start)
	if feedback := l.Notes.Payload(a.Origin.Iteration, p); feedback != nil && !a.Origin.Reviews {
		l.Tell(a.Origin, feedback)
	}
	calls := l.Calls
	l.writes.begin(func() error { return l.State.SaveCalls(calls) }, l.Out.Save)
}

// Wait waits until all that was counted and recorded is on disk.
func (l *Ledger) Wait() error { return l.writes.wait() }

// NoteUsage takes what an agent reports about a usage window during its call.
func (l *Ledger) NoteUsage(from state.Origin, u state.Limit) { l.Pool.Pace.Note(callKey(from), u) }

// Spend counts what calls of reviewers and hooks have used.
func (l *Ledger) Spend(calls int, u state.Usage) {
	l.Memory.Usage = l.Memory.Usage.Add(u)
	l.Calls.Calls, l.Calls.Tokens = l.Calls.Calls+calls, l.Calls.Tokens+u.Total()
}

// Take records what a turn saw and did: counters, records, findings, and the ticks that count. It returns what the second
// table of rules looks at. fallbacks are the agents that may take over, and hints are for the agent of the next turn.
func (l *Ledger) Take(res turn.Result, fallbacks []string) (f rules.Conclusion, hints []string) {
	res, hints = l.Asked.Limit(res)
	now, own := time.Now(), l.Tasks.Of(res.Task.ID)
	f.Damaged = res.Work.Damaged
	if l.StateLost {
		f.Damaged = append([]string{l.Plan.Rel(l.State.Dir())}, f.Damaged...)
	}
	l.Plan.Counts, l.memoryBefore = res.Proof.After, l.Memory
	res = l.price(res)
	f.Result, l.Last = res, res
	if res.Proof.GiveUp != "" && own.Aside.Why == "" {
		l.Memory.Breaker.NoProgress = 0 // the next task starts a new count
	}
	l.Tasks.Learn(res)
	if res.Cut == state.RequestAbort { // this call may have done the work that the next run only ticks
		own.CutOff = true
	}
	l.Warned = l.Warned || res.Proof.Warned
	l.Findings += len(res.Proof.Findings)
	l.Items.Add(res)
	for _, o := range res.Proof.Reopen {
		l.Reopen(res.Origin, o, res.Work.Before)
	}
	if res.Proof.Blocked {
		l.TellTask(res.Origin, res.Task, state.TaskBlocked, "its agent has marked it so")
	}
	for _, id := range res.Finished() { // also when the agent only claimed it, and set no tick
		l.Plan.Mark(id, task.Done)
	}
	l.Calls = pace.ThisHour(l.Calls, now)
	l.Calls.Tokens += res.Call.Usage.Total()
	l.Memory = l.Memory.After(res, len(f.Damaged) > 0, l.Policy, now)
	f.Facts, f.Causes = l.facts(res.Proof.After, nil), l.Tasks.Causes(res.Task.ID)
	f.Another = l.Tasks.Another(res.Task.ID, res.Proof.After.List)
	if l.counts() {
		f.Attempts = own.Attempts + 1
	}
	if rules.IsLimit(res.Call.Outcome.Class) {
		l.Pool.Met(res.Agent, res.Call.Outcome, l.Memory.Limits, now)
		f.Fallback, _ = l.Pool.Free(fallbacks, f.Now)
		f.LimitedUntil = l.Pool.FreeAt(append(fallbacks, res.Agent), f.Now)
	}
	return f, hints
}

// counts is true if the turn that Take took in counts as an iteration.
func (l *Ledger) counts() bool { return l.Memory.Iterations > l.memoryBefore.Iterations }

// Record records what was decided about the turn of a Conclusion, writes it, and reports the end of the turn. hints are for
// its agent, if its task is next again. The writes go on at the same time until Wait, because each waits for the disk.
func (l *Ledger) Record(f rules.Conclusion, d rules.Decision, hints []string) error {
	res, id, counted := f.Result, f.Result.Task.ID, l.counts()
	worked := res.Progress() || res.Cut == "" && res.Call.Outcome.Class != ending.HangSilent
	l.Out.Lost(l.Notes.Delivered(res, counted && worked))
	if counted { // else the next prompt still needs the notes of this one
		l.Notes.Begin(res)
		l.Tasks.Attempted(id, rules.Attempt(res))
		l.Out.Lost(l.Asked.Settle(res, d.Rule == state.RuleQuestion))
		output.Signal(&l.signals, res)
	}
	l.Notes.Add(d)
	if d.PutAside {
		l.Tasks.PutAside(id, d.Reason, res.ErrorText(), res.Proof.After.List)
		l.TellTask(res.Origin, res.Task, state.TaskPutAside, d.Reason)
		if l.Tasks.Of(id).Aside.Stuck = d.Stuck; !d.Stuck { // else the agent may be stuck, too
			l.Memory.Breaker.SameError, l.Memory.Breaker.LastError = 0, "" // the next task starts a new count
		}
		l.DropNotes(d)
	}
	if l.Memory.Breaker.State == state.BreakerOpen { // it was not for the task
		l.Tasks.unstick()
	}
	rec := l.Tasks.Of(id)
	if rec.Aside.Why != "" {
		hints = nil // the next turn has another task
		rec.Aside.Marked = !rec.Aside.Stuck && l.Plan.Mark(id, task.Blocked) || rec.Aside.Marked
	}
	l.Notes.Settle(slices.Concat(HintsFor(res, f.Damaged), l.tellRepeats(res), hints)...)
	if counted && res.Cut == "" && !d.PutAside {
		l.Tasks.Remember(id, l.Notes.Feedback)
	}
	for _, done := range res.Finished() {
		l.Tasks.Settled(done, res.Origin.Run, l.Tasks.Proof(done, res))
		if t, _ := res.Proof.After.List.Find(done); done != id {
			l.TellTask(res.Origin, t, state.TaskDone, "its work is done, too: "+l.Tasks.Reason(done))
		}
	}
	l.learn(res)
	var renewed bool
	if l.Session, renewed = pool.SessionAfter(l.Session, res); renewed && l.Continue { // else Close saves it: nobody resumes it before
		if err := l.State.SaveSession(l.Session); err != nil {
			return err
		}
	}
	if err := l.Wait(); err != nil { // of another turn: no call has begun since
		return err
	}
	w, b, calls, signals, analysis := l.State, l.Memory.Breaker, l.Calls, l.signals, output.AnalysisOf(res)
	breaker := func() error { return w.SaveBreaker(b) }
	if b.State != l.memoryBefore.Breaker.State {
		l.Memory.Breaker = l.memoryBefore.Breaker
		breaker = l.moveBreaker(b)
	}
	l.writes.begin(breaker, func() error { return w.SaveCalls(calls) }, func() error { return w.SaveSignals(signals) },
		func() error { l.Out.Lost(w.SaveAnalysis(analysis)); return nil }) // nothing depends on it
	l.End(res, d)
	return nil
}

// learn keeps the lessons of a turn. A run can do without them.
func (l *Ledger) learn(res turn.Result) {
	refused, err := l.Learned.Learn(res, time.Now())
	if err != nil {
		l.Log.Warn("no lessons", logs.KeyError, err)
	}
	for _, f := range refused {
		l.Tell(res.Origin, f)
	}
	if l.Learned.Wrote { // into a file of the project
		l.Plan.Changed()
	}
}

// End reports the end of a job and what was decided.
func (l *Ledger) End(res turn.Result, d rules.Decision) {
	o := res.Call.Outcome
	l.Pool.Pace.End(callKey(res.Origin))
	l.Log.Info("iteration ended", logs.KeyIteration, res.Origin.Iteration, logs.KeyOutcome, o.Class,
		logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "files", res.Work.Change.Count,
		"call_seconds", res.Duration.Seconds())
	for _, t := range res.Call.Advised {
		l.Log.Warn("a compound command was denied although each part is allowed", "command", t.Arg)
	}
	if res.Call.Leftover > 0 {
		l.Log.Warn("ended processes that the agent left behind", "count", res.Call.Leftover, logs.KeyIteration,
			res.Origin.Iteration)
	}
	l.ShowDecision(d)
	l.Out.Status(func(s *state.Status) { output.ShowEnd(s, res, logs.Redact(rules.LastError(res))) })
	end := output.EndOf(res)
	end.Decision = DecisionOf(d)
	l.Tell(res.Origin, end)
	if l.printed += res.Call.Printed; l.printed > pruneEvery {
		l.printed = 0
		l.Out.Lost(logs.Prune(l.State.LogsDir(), logsKept))
	}
}

// ApplyReview records a phase of review that ran to its end, and what follows. next is the phase after it; empty: none.
func (l *Ledger) ApplyReview(from state.Origin, t task.Task, o roles.Outcome, next string, d rules.Decision) {
	l.Memory.Iterations++
	rec := l.Tasks.Of(t.ID)
	l.Notes.NextPrompt = state.NextPrompt{Task: t.ID, Last: d.Reason, Review: d.Feedback}
	l.Out.Status(func(s *state.Status) { s.Verdicts = o.Verdicts })
	l.Items.Judged(t, o)
	results := map[string]any{records.JudgeResults: o.Results(logs.Redact)}
	if len(rec.Report.Results) > 0 {
		results[records.ValidationResults] = rec.Report.Gates()
	}
	l.Plan.Judged(t, results)
	refused := rec.Review.Refused + 1
	switch {
	case d.PutAside:
		l.SendBack(t, o.Verdicts)
		l.PutAside(from, t, d.Reason)
	case !o.Passed:
		l.SendBack(t, o.Verdicts)
		rec.Review.Refused = refused
		l.Tasks.Remember(t.ID, d.Feedback)
	case next != "":
		rec.Review.Phase, rec.Review.Verdicts = next, o.Verdicts
	default:
		l.Plan.Mark(t.ID, task.Done)
	}
}

// SendBack gives a task back to its developer, and forgets the lessons of the turn that was refused.
func (l *Ledger) SendBack(t task.Task, said []state.Verdict) {
	rec := l.Tasks.Of(t.ID)
	if rec.Review.Iteration > 0 {
		wrote, err := l.Learned.Forget(rec.Review.Run, rec.Review.Iteration)
		if err != nil {
			l.Log.Warn("lessons of a turn that was refused stay", logs.KeyIteration, rec.Review.Iteration, logs.KeyError, err)
		}
		if wrote {
			l.Plan.Changed()
		}
	}
	rec.Review.Phase, rec.Review.Verdicts, rec.Review.Run, rec.Review.Iteration, rec.Review.Kept = "", said, "", 0, false
	l.Plan.Mark(t.ID, task.Active)
}

// PutAside gives a task up and marks it as blocked in the plan.
func (l *Ledger) PutAside(from state.Origin, t task.Task, why string) {
	l.Tasks.PutAside(t.ID, why, "", l.Plan.Read().List)
	l.Tasks.Of(t.ID).Aside.Marked = l.Plan.Mark(t.ID, task.Blocked)
	l.TellTask(from, t, state.TaskPutAside, why)
}

// DropNotes drops what the next prompt would say about a task that was put aside, unless the next task works in the same
// checkout and so sees the files of that task.
func (l *Ledger) DropNotes(d rules.Decision) {
	if l.InWorktrees {
		l.Notes.Drop(d)
	}
}

// Reopen takes one tick back. It changes nothing else in the plan. from is the turn that set the tick, or found it.
func (l *Ledger) Reopen(from state.Origin, o turn.Reopen, before turn.Plan) {
	review, is := o.By == turn.ReopenReview, state.TaskOpen
	t, changed := l.Plan.Reopen(o.Task, before, review)
	if rec := l.Tasks.Of(o.Task); review {
		rec.Review.Kept, rec.Review.Run, rec.Review.Iteration = l.InWorktrees, from.Run, from.Iteration
		rec.Review.Phase = l.FirstReview(t, rec.Review)
		is = state.TaskInReview
	}
	if changed {
		if from.Task != o.Task {
			from = l.Origin(t)
		}
		l.TellTask(from, task.Task{ID: o.Task, Title: t.Title}, is, o.Why)
	}
}

// TellTask reports what has become of a task.
func (l *Ledger) TellTask(from state.Origin, t task.Task, is, why string) {
	l.Tell(from, state.TaskChange{ID: t.ID, Title: t.Title, State: is, Why: why})
}

// tellRepeats reports tools that fail again and again, and returns what the agent is told.
func (l *Ledger) tellRepeats(res turn.Result) (hints []string) {
	for _, text := range l.Memory.Repeats(res) {
		l.Tell(res.Origin, state.Finding{Source: state.FoundByAudit, Name: "repeated_failure", Task: res.Task.ID,
			Text: text, Doubt: true})
		hints = append(hints, "ralph sees that "+text+
			". Do not just repeat the call: find the cause, or try another way.")
	}
	return hints
}

// SaveCalls counts on disk what is no turn of its own.
func (l *Ledger) SaveCalls() error { return errors.Join(l.Wait(), l.State.SaveCalls(l.Calls)) }

// SaveChecks writes what is known of the checks.
func (l *Ledger) SaveChecks() error { return gate.SaveKnown(l.State.Dir(), l.Checks) }

// Show sets what status.json says of the counters, the tasks and the bounds of the run.
func (l *Ledger) Show(s *state.Status) {
	s.LoopCount, s.Usage, s.Breaker = l.Memory.Iterations, l.Memory.Usage,
		state.BreakerStatus{State: l.Memory.Breaker.State, Reason: l.Memory.Breaker.Reason}
	s.CallsThisHour, s.TokensThisHour, s.NextReset = l.Calls.Calls, l.Calls.Tokens,
		pace.NextHour(pace.HourOf(time.Now()))
	s.LimitedUntil, s.WindowUse, s.Tasks = maps.Clone(l.Pool.Limits), slices.Clone(l.Pool.Pace.Used), l.Tasks.Kept()
	s.NextPrompt, s.Review = l.Notes.NextPrompt, l.Items.numbered(slices.Clone(l.Items.Items)) // they must survive a kill
	rec := l.Tasks.look(s.Task.ID)
	s.EndsWhen = rules.BoundsUsed(l.facts(turn.Plan{}, nil), rec.Attempts, rec.Tries)
}

// ShowDecision shows a decision to people.
func (l *Ledger) ShowDecision(d rules.Decision) {
	l.Out.Status(func(s *state.Status) {
		l.Show(s)
		s.Rule, s.Reason = d.Rule, d.Reason
	})
}

// Announce reports a decision that was made without a turn.
func (l *Ledger) Announce(d rules.Decision) {
	l.ShowDecision(d)
	l.Tell(l.Origin(l.Last.Task), DecisionOf(d))
}

// DecisionOf is a decision as events show it.
func DecisionOf(d rules.Decision) state.Decision {
	return state.Decision{Action: d.Action, Rule: d.Rule, Reason: d.Reason, WakeAt: d.Until}
}

// moveBreaker puts the breaker into a new state. write saves it, and adds the change to its history.
func (l *Ledger) moveBreaker(b state.Breaker) (write func() error) {
	from := l.Memory.Breaker.State
	l.Memory.Breaker = b
	l.Log.Info("circuit breaker", "from", from, "to", b.State, logs.KeyReason, b.Reason)
	if l.Out != nil {
		l.Out.Status(func(s *state.Status) { s.Breaker = state.BreakerStatus{State: b.State, Reason: b.Reason} })
	}
	change := state.BreakerChange{Timestamp: time.Now(), Loop: b.CurrentLoop, FromState: from, ToState: b.State,
		Reason: b.Reason}
	return func() error {
		return sideBySide(func() error { return l.State.SaveBreaker(b) },
			func() error { return l.State.AddBreakerChange(change) })
	}
}

// Close writes what the next run needs.
func (l *Ledger) Close(complete bool) error {
	saved := l.Wait()
	if complete { // idle iterations of this plan say nothing about the next one
		l.Out.Lost(l.State.SaveBreaker(l.Memory.Breaker.Closed()))
	}
	l.Out.Lost(logs.Prune(l.State.LogsDir(), logsKept))
	return errors.Join(saved, l.State.SaveSession(l.Session))
}

// sideBySide makes all writes at once and waits for them: each waits for the disk.
func sideBySide(all ...func() error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, write := range all {
		wait.Go(func() { errs[i] = write() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// writes are writes that somebody waits for later. The zero value has none. It is for one goroutine at a time.
type writes struct{ done chan error }

// begin begins writes, all at once, as soon as those before are over.
func (w *writes) begin(all ...func() error) {
	before, done := w.done, make(chan error, 1)
	w.done = done
	go func() {
		var err error
		if before != nil {
			err = <-before
		}
		done <- errors.Join(err, sideBySide(all...))
	}()
}

// wait waits for the writes and returns their error, once.
func (w *writes) wait() error {
	if w.done == nil {
		return nil
	}
	err := <-w.done
	w.done = nil
	return err
}
