package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/agent/ending"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

const (
	// logsKept bounds the raw output and prompts on disk, in bytes.
	logsKept = 1 << 30
	// pruneEvery is the raw output after which the bound is enforced again.
	pruneEvery = 128 << 20
)

// iterate hands one assignment to a turn and concludes from its result.
func (r *Run) iterate(ctx context.Context, next task.Task) (rules.Decision, error) {
	goOn := rules.Decision{Action: rules.ActionContinue}
	work, done := r.inbox.CallContext(ctx)
	defer done()
	if err := r.takeBaseline(work, next); err != nil || work.Err() != nil {
		return goOn, err // admit says who asked for what
	}
	a, who, err := r.assign(next)
	if err != nil {
		return unusable(err), nil
	}
	r.takesOver(next, who)
	if err := r.begin(a); err != nil {
		return rules.Decision{}, err
	}
	res, err := r.carryOut(work, a)
	if broken := r.inbox.Broken(); broken != nil {
		return rules.Decision{}, broken
	}
	if err != nil && work.Err() == nil {
		for _, o := range res.Proof.Reopen { // the next run has no reason to doubt these ticks
			r.reopen(o)
		}
		return rules.Decision{}, err
	}
	for _, q := range r.inbox.OfAgent() {
		r.tell(state.Finding{Source: state.FoundByAudit, Name: "request", Text: r.inbox.Who(q)})
	}
	if r.inbox.Take(state.RequestSkip) != "" {
		r.tasks.Skip(next.ID)
	}
	if !res.Call.Made && res.Call.NotStarted == "" { // ended before the call
		goOn.Rule, goOn.Reason = "continue", "a person ended it before the agent was called"
		r.announceEnd(res, goOn)
		r.calls.Calls--
		return goOn, r.d.State.SaveCalls(r.calls)
	}
	keep, kept := r.inbox.AfterContext(ctx) // an abort also ends what git does after the call
	defer kept()
	return r.conclude(ctx, keep, res)
}

// begin puts the call on disk before it is made.
func (r *Run) begin(a turn.Assignment) error {
	r.calls = rules.ThisHour(r.calls, time.Now())
	r.calls.Calls++
	p, number := a.Prompt, a.Origin.Iteration
	r.past.lostState = false
	r.out.Status(func(s *state.Status) {
		s.Status, s.Phase, s.LastAction = state.StatusRunning, state.PhaseAgent, fmt.Sprintf("iteration %d", number)
		s.IterationStartedAt, s.LastTool, s.WakeAt, s.Rule, s.Reason = time.Now(), "", time.Time{}, "", ""
		s.Task = state.TaskStatus{ID: a.Task.ID, Title: a.Task.Title, Done: p.Done, Total: p.Total}
		s.EndsWhen = r.endsWhen(a.Task.ID)
		r.showCalls(s)
	})
	start := state.IterationStart{Title: a.Task.Title, Agent: a.Agent.Spec.Name, Model: a.Agent.Model, Done: p.Done, Total: p.Total}
	switch {
	case start.Title != "":
	case r.mem.Contradiction != "":
		start.Why = "the plan has nothing left, but the agent's last word contradicts it"
	case p.Total > 0:
		start.Why = "the plan has nothing left, but a check fails"
	default:
		start.Why = "no plan: the prompt alone"
	}
	r.tellOf(a.Task, start)
	if feedback := r.notes.payload(); feedback != nil {
		r.tellOf(a.Task, feedback)
	}
	return sideBySide(func() error { return r.d.State.SaveCalls(r.calls) }, r.out.Save)
}

func (r *Run) showCalls(s *state.Status) {
	s.CallsThisHour, s.TokensThisHour, s.NextReset = r.calls.Calls, r.calls.Tokens, rules.NextHour(rules.HourOf(time.Now()))
}

// conclude decides and records. The work is committed and kept while keep lasts.
func (r *Run) conclude(ctx, keep context.Context, res turn.Result) (rules.Decision, error) {
	r.last, r.plan.counts = res, res.Proof.After
	damaged := res.Work.Damaged
	if r.past.lostState {
		damaged = append([]string{r.plan.rel(r.d.State.Dir())}, damaged...)
	}
	r.settleTasks(res)
	r.commit(keep, res)
	now := time.Now()
	was := r.mem
	r.calls = rules.ThisHour(r.calls, now)
	r.calls.Tokens += res.Call.Usage.Total()
	r.keepSession(res)
	r.mem = r.mem.After(res, len(damaged) > 0, r.o.Policy, now)
	counted := r.mem.Iterations > was.Iterations
	f := rules.Conclusion{Facts: r.facts(ctx, res.Proof.After), Result: res, Damaged: damaged, Causes: r.tasks.Causes(res.Task.ID)}
	if counted {
		f.Attempts = r.tasks.Of(res.Task.ID).Attempts + 1
	}
	r.meetLimit(&f, now)
	if res.Proof.After.Remaining == 0 && res.Proof.After.Error == "" && f.Interrupt == nil {
		f.Review = r.toReview(keep, res.Proof.Report)
	}
	d := rules.Conclude(f)
	if counted { // a call that did nothing keeps what the next one has to know
		r.notes = notes{state.NextPrompt{Task: res.Task.ID, Last: rules.Summary(res)}}
		r.tasks.Attempted(res.Task.ID, rules.Attempt(res))
	}
	r.notes.add(d)
	if d.PutAside {
		r.tasks.PutAside(res.Task.ID, d.Reason, res.ErrorText(), res.Proof.After.List)
		aside := state.TaskChange{ID: res.Task.ID, Title: res.Task.Title, State: "put aside", Why: d.Reason}
		r.out.Event(state.NewEvent(res.Origin, now, turn.Redacted(aside))) // not of the next iteration
		r.mem.Breaker.SameError, r.mem.Breaker.LastError = 0, ""           // the next task begins afresh
	}
	r.notes.hint(append(rules.Hints(res, damaged), r.tellRepeats(res)...)) // after a failure of the service the notes stay
	if counted && res.Cut == "" && !d.PutAside {
		r.tasks.Remember(res.Task.ID, r.notes.Feedback)
	}
	if res.Proof.After.IsDone(res.Task.ID) {
		r.tasks.Settled(res.Task.ID)
	}
	if err := r.save(res, was); err != nil {
		return rules.Decision{}, err
	}
	r.announceEnd(res, d)
	if !res.Call.Made {
		return d, nil // there is no end of an iteration to go back to
	}
	if err := r.worker.Keep(keep, r.d.Dir, keptOf(res, d.Rule)); err != nil && keep.Err() == nil {
		return rules.Decision{}, err
	}
	return d, nil
}

// settleTasks takes over what the turn says about the plan, and takes back the
// ticks that do not count.
func (r *Run) settleTasks(res turn.Result) {
	if res.Proof.GiveUp != "" && r.tasks.Of(res.Task.ID).Aside.Why == "" {
		r.mem.Breaker.NoProgress = 0 // the next task begins afresh
	}
	r.tasks.Learn(res)
	r.past.warned = r.past.warned || res.Proof.Warned
	r.past.findings += len(res.Proof.Findings)
	r.review.Add(res)
	for _, o := range res.Proof.Reopen {
		r.reopen(o)
	}
}

// reopen takes one tick back, and changes nothing else in the plan.
func (r *Run) reopen(o turn.Reopen) {
	list := r.plan.read().List
	i := slices.IndexFunc(list.Tasks, func(t task.Task) bool { return t.ID == o.Task })
	if i < 0 {
		return
	}
	if err := task.Untick(r.d.Plan, list.Tasks[i]); err != nil {
		r.d.Log.Warn("a tick cannot be taken back", logs.KeyTask, o.Task, logs.KeyError, err)
		return
	}
	r.worker.Forget()
	r.tellOf(list.Tasks[i], state.TaskChange{ID: o.Task, Title: list.Tasks[i].Title, State: "open", Why: o.Why})
}

// meetLimit remembers a usage limit and finds out who can take over, and when
// somebody can.
func (r *Run) meetLimit(f *rules.Conclusion, now time.Time) {
	res := f.Result
	if !rules.IsLimit(res.Call.Outcome.Class) {
		return
	}
	again := r.mem.Limits
	if _, met := r.pool.Limits[res.Agent]; !met { // another agent's refusals say nothing about this one
		again = 1
	}
	r.pool.Limits[res.Agent] = rules.LimitEnd(res.Call.Outcome, again, now)
	names := r.candidates(res.Task, res.Work.Before.List)
	f.Fallback, _ = r.pool.Free(names, now)
	f.LimitedUntil = r.pool.FreeAt(append(names, res.Agent), now)
}

// commit commits what the agent left over, when the checks pass.
func (r *Run) commit(ctx context.Context, res turn.Result) {
	if !r.o.AutoCommit || res.Proof.Report.Blocked() || !res.Call.Outcome.Class.Success() {
		return
	}
	title := logs.Redact(strings.ReplaceAll(res.Task.Title, "\x00", ""))
	if title == "" {
		title = fmt.Sprintf("iteration %d", res.Origin.Iteration)
	}
	done, err := r.worker.Commit(ctx, r.d.Dir, git.CommitRequest{
		Message: strings.TrimSpace(r.o.CommitPrefix + " " + title),
		Trailers: []git.Trailer{{Key: "Ralph-Run", Value: r.d.RunID},
			{Key: "Ralph-Iteration", Value: fmt.Sprint(res.Origin.Iteration)}, {Key: "Ralph-Task", Value: res.Task.ID}},
	})
	switch {
	case err != nil: // a commit that cannot be made costs no run
		r.d.Log.Warn("nothing was committed", logs.KeyError, err)
	case done.OID != "" || len(done.Refused) > 0:
		r.out.Event(state.NewEvent(res.Origin, time.Now(), done))
	}
}

// saveChecks writes what the checks have to know in the next run.
func (r *Run) saveChecks() error {
	dir := r.d.State.Dir()
	if b := r.checks.Baseline; b != nil && !b.TakenAt.IsZero() {
		if err := b.Write(filepath.Join(dir, gate.BaselineFile)); err != nil && !gone(err) {
			return err
		}
	}
	if f := r.checks.Flakes; f != nil {
		if err := f.Write(filepath.Join(dir, gate.FlakesFile)); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

func (r *Run) keepSession(res turn.Result) {
	now, class, s := time.Now(), res.Call.Outcome.Class, res.Call.Session
	switch {
	case class == ending.StaleSession || class == ending.ContextTooLong:
		r.session = state.Session{Agent: res.Agent, ResetAt: now, ResetReason: string(class)}
	case s.ID == "":
		return
	case res.Failed() && class != ending.TimeoutWithWork:
		if s.ID != r.session.SessionID {
			return
		}
		r.session.Counted = s.Counted // or the next call would count it again
	default:
		if r.session.SessionID != s.ID {
			r.session = state.Session{Agent: res.Agent, SessionID: s.ID, CreatedAt: now}
		}
		r.session.LastUsed, r.session.Counted = now, s.Counted
	}
	if !r.o.Continue {
		return // nobody resumes it before the end of the run: close saves it
	}
	if err := r.d.State.SaveSession(r.session); err != nil {
		r.inbox.Fail(err)
	}
}
