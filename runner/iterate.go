package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"ralph/logs"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/git"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

const (
	// finalGrace is how long an agent may live on after its final record.
	finalGrace = 30 * time.Second
	killGrace  = 2 * time.Second
	// maxInput bounds the prompt and the plan.
	maxInput = 16 << 20
	// shownMost is the text of one call after which narration and tool results
	// go only into its raw output: the logs rotate, and would keep none of it.
	shownMost = 32 << 20
	// rawMost bounds the raw output that is kept of one call, in bytes.
	rawMost = 256 << 20
	// logsKept bounds the raw output and prompts on disk, in bytes.
	logsKept = 1 << 30
	// pruneEvery is the raw output after which the bound is enforced again.
	pruneEvery = 128 << 20
	// observeBound is what looking at the tree may take after a person ended the run.
	observeBound = 5 * time.Second
	// observeMost is more than git needs for any tree, and ends one that hangs.
	observeMost = 5 * time.Minute
)

// iterate makes one agent call and answers it.
func (l *Loop) iterate(ctx context.Context, next task.Task) (rules.Decision, error) {
	list, plan := l.loadPlan()
	template, err := state.ReadFile(l.d.Prompt, maxInput)
	if err != nil {
		return unusable(fmt.Sprintf("the prompt is gone: %v", err), "write the prompt again, then: ralph"), nil
	}
	work, done := l.callContext(ctx)
	defer done()
	if err := l.ready(work, next); err != nil || work.Err() != nil {
		return rules.Decision{Action: rules.ActionContinue}, err // admit says who asked for what
	}
	cast, err := l.cast(list, next, time.Now())
	if err != nil {
		return unusable(fmt.Sprintf("task %q: %v", next.Title, err), "name another agent in the plan, then: ralph"), nil
	}
	l.announceAgent(cast)
	it := rules.Iteration{Number: l.mem.Iterations + 1, Task: next, Before: plan, List: list, Agent: cast.agent.Spec.Name}
	text := prompt.Build(l.promptInput(string(template), it))
	if err := l.begin(it, text); err != nil {
		return rules.Decision{}, err
	}
	l.emitFeedback(it.Number)
	files := l.guard()
	transcript, exit, err := l.call(work, it, text)
	if errors.Is(err, ptyexec.ErrNotFound) || errors.Is(err, ptyexec.ErrNotExecutable) {
		d := unusable(err.Error(), "install it: "+cast.agent.Spec.Install+"; then: ralph resume")
		d.Rule, d.Exit, d.ExitReason = "agent_unusable", rules.ExitAgent, "agent_unusable"
		return d, nil
	}
	if err != nil {
		return rules.Decision{}, err
	}
	it.Outcome = cast.agent.Spec.Classify(transcript, exit, time.Now())
	l.cut(&it, exit)
	if err := l.observe(work, &it, files); err != nil {
		return rules.Decision{}, err
	}
	l.fold(&it, transcript, exit)
	if err := l.prove(work, &it); err != nil && work.Err() == nil {
		return rules.Decision{}, err
	}
	l.doubt(&it)
	if l.take(state.RequestSkip) != "" { // asked for while its checks ran
		l.tasks.of(next.ID).skipped, it.Cut = true, state.RequestSkip
	}
	keep := work // an abort ends also what git does after the call
	if it.Cut == state.RequestSkip {
		keep = ctx
	}
	return l.conclude(ctx, keep, it, transcript.Final)
}

// ready knows the tree and what is red in it. When a person ends ctx, there is
// no error.
func (l *Loop) ready(ctx context.Context, next task.Task) error {
	err := l.takeBaseline(ctx, next)
	if err == nil && ctx.Err() == nil {
		err = l.look(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err == nil && l.start == nil {
		l.openTrail(ctx)
	}
	return err
}

// unusable ends the run because of something that a person has to put right.
func unusable(reason, next string) rules.Decision {
	return rules.Decision{Action: rules.ActionStop, Rule: "plan_unusable", Reason: reason, Exit: rules.ExitUsage,
		ExitReason: "plan_unusable", Status: state.StatusFailed, Next: next}
}

func (l *Loop) promptInput(template string, it rules.Iteration) prompt.Input {
	in := prompt.Input{
		Template: template, Iteration: it.Number, MaxIterations: l.o.MaxIterations,
		Done: it.Before.Done, Total: it.Before.Total, Remaining: it.Before.Remaining,
		Aside: l.asideTitles(it.List), Last: l.notes.last, Refused: l.notes.refused, Feedback: l.notes.feedback,
	}
	if it.Before.Total > 0 {
		in.PlanPath = l.rel(l.d.Plan)
	}
	if t := it.Task; t.Title != "" {
		in.Task = &t
	}
	return in
}

// begin puts the call on disk before it is made.
func (l *Loop) begin(it rules.Iteration, text string) error {
	l.calls = rules.ThisHour(l.calls, time.Now())
	l.calls.Calls++
	if err := l.d.State.SaveCalls(l.calls); err != nil {
		return err
	}
	if err := l.d.State.SavePrompt(l.d.RunID, it.Number, text); err != nil {
		return err
	}
	l.board.update(func(s *state.Status) {
		s.Status, s.Phase, s.LastAction = state.StatusRunning, "agent", "iteration "+strconv.Itoa(it.Number)
		s.IterationStartedAt, s.LastTool, s.WakeAt, s.Rule, s.Reason = time.Now(), "", time.Time{}, "", ""
		s.Task = state.TaskStatus{ID: it.Task.ID, Title: it.Task.Title, Done: it.Before.Done, Total: it.Before.Total}
		l.showCalls(s)
	})
	title := it.Task.Title
	switch {
	case title != "":
	case it.Before.Total > 0:
		title = "the plan has nothing left, but a check fails"
	default:
		title = "no plan: the prompt alone"
	}
	l.emit(state.Event{Kind: state.KindIterationStart, Iteration: it.Number, Text: title})
	return l.board.save()
}

func (l *Loop) showCalls(s *state.Status) {
	s.CallsThisHour, s.TokensThisHour, s.NextReset = l.calls.Calls, l.calls.Tokens, rules.NextHour(rules.HourOf(time.Now()))
}

// call runs the agent in its pty and folds what it prints.
func (l *Loop) call(ctx context.Context, it rules.Iteration, text string) (*agent.Transcript, ptyexec.Exit, error) {
	raw, err := l.d.State.OpenRaw(l.d.RunID, it.Number)
	if err != nil {
		return nil, ptyexec.Exit{}, err
	}
	defer raw.Close()
	session := l.resumable()
	spec := l.current.agent.Spec
	cmd, clean, err := spec.Prepare(l.request(l.current, text, session))
	if err != nil {
		return nil, ptyexec.Exit{}, err
	}
	defer clean()
	cmd.Size, cmd.Resize, cmd.Kill, cmd.Spare = l.d.Size, l.d.Resize, l.d.Kill, &l.spare
	cmd.Timeout, cmd.IdleTimeout, cmd.FinalGrace, cmd.KillGrace = l.timeout(), l.o.IdleTimeout, finalGrace, killGrace
	transcript := &agent.Transcript{}
	var shown, printed int64
	decoder := spec.NewDecoder(func(e state.Event) {
		if shown += int64(len(e.Text)); shown > shownMost && (e.Kind == state.KindText || e.Kind == state.KindToolResult) {
			transcript.Add(e)
			return
		}
		e = redacted(e)
		transcript.Add(e)
		e.Iteration = it.Number
		l.see(e)
		l.emit(e)
	})
	if session != "" {
		decoder.Resume(l.session.Counted)
	}
	exit, err := ptyexec.Run(ctx, cmd, func(p []byte) bool {
		if err := keepRaw(raw, p, &printed); err != nil {
			l.fail(fmt.Errorf("keep raw output: %w", err))
		}
		l.rawSize += int64(len(p))
		_, _ = decoder.Write(p) // never fails
		return decoder.Final()
	})
	decoder.Close()
	l.counted = decoder.Counted()
	l.flush()
	if broken := l.brokenErr(); broken != nil {
		return nil, exit, broken
	}
	return transcript, exit, err
}

// keepRaw writes p while one call has printed at most rawMost bytes.
func keepRaw(raw *os.File, p []byte, printed *int64) error {
	room := rawMost - *printed
	*printed += int64(len(p))
	if room <= 0 {
		return nil
	}
	_, err := raw.Write(p[:min(int64(len(p)), room)])
	if err == nil && int64(len(p)) >= room {
		_, err = raw.WriteString("\n[ralph keeps no more of what this call prints]\n")
	}
	return err
}

// callContext can also be ended by a request: the call itself, and the checks
// before and after it.
func (l *Loop) callContext(ctx context.Context) (context.Context, func()) {
	callCtx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	l.cancel = cancel
	if slices.Contains(l.pending, state.RequestAbort) {
		cancel(errors.New("ralph abort"))
	}
	l.mu.Unlock()
	return callCtx, func() {
		l.mu.Lock()
		l.cancel = nil
		l.mu.Unlock()
		cancel(nil)
	}
}

// timeout is the bound of one call; the run's own end is never passed.
func (l *Loop) timeout() time.Duration {
	if l.o.MaxDuration > 0 {
		return min(l.o.Timeout, max(l.o.MaxDuration-time.Since(l.started), time.Second))
	}
	return l.o.Timeout
}

// see updates the status by an event of the agent.
func (l *Loop) see(e state.Event) {
	switch e.Kind {
	case state.KindSession, state.KindTool, state.KindUsage, state.KindLimit:
	default:
		return
	}
	l.board.update(func(s *state.Status) {
		switch e.Kind {
		case state.KindSession:
			s.SessionID = e.Session
			if e.Model != "" {
				s.Model = e.Model
			}
		case state.KindTool:
			s.LastTool = toolText(e.Tool)
		case state.KindUsage:
			s.Usage = l.mem.Usage.Add(*e.Usage)
			s.TokensThisHour = l.calls.Tokens + e.Usage.Total()
		case state.KindLimit:
			s.Limit = e.Limit
		}
	})
}

// observe looks at what the call left: the tree, the plan, ralph's own files.
func (l *Loop) observe(ctx context.Context, it *rules.Iteration, files []guarded) error {
	l.board.update(func(s *state.Status) { s.Phase = "observing" })
	// The work of an interrupted call is still to be told.
	asked := ctx
	ctx, cancel := outlast(ctx)
	defer cancel()
	var err error
	if it.Damaged, err = l.restore(files); err != nil {
		return err
	}
	after, err := git.Observe(ctx, l.d.Dir)
	if err != nil {
		if asked.Err() == nil {
			return err
		}
		l.before = nil
		it.Left, it.After = l.loadPlan()
		return nil // a slow repository does not keep a person from ending the run
	}
	if it.Change, err = l.before.Compare(after).Committed(ctx, l.d.Dir, *l.before, after); err != nil {
		l.d.Log.Warn("the files of the new commits are unknown", logs.KeyError, err)
	}
	it.Left, it.After = l.loadPlan()
	l.audit(ctx, it, *l.before, after)
	l.before = &after
	return nil
}

// outlast is a context that ends observeBound after ctx, and in observeMost.
func outlast(ctx context.Context) (context.Context, func()) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), observeMost)
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(observeBound, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() { stop(); cancel() }
}

// cut notes that a person ended the call.
func (l *Loop) cut(it *rules.Iteration, exit ptyexec.Exit) {
	skip := l.take(state.RequestSkip)
	if skip != "" {
		l.tasks.of(it.Task.ID).skipped = true
	}
	if exit.Cause == ptyexec.CauseCancelled {
		it.Cut = cmp.Or(skip, state.RequestAbort)
	}
}

// fold completes the facts and keeps what outlives the call.
func (l *Loop) fold(it *rules.Iteration, t *agent.Transcript, exit ptyexec.Exit) {
	it.Duration = exit.Duration
	it.Heard(t, l.current.agent.Spec, l.o.AllowedTools)
	l.calls = rules.ThisHour(l.calls, time.Now())
	l.calls.Tokens += it.Usage.Total()
	l.keepSession(*it, t.Session)
	if exit.Leftover > 0 {
		l.d.Log.Warn("ended processes that the agent left behind", "count", exit.Leftover, logs.KeyIteration, it.Number)
	}
}

// conclude decides and records. The work is committed and kept while keep lasts.
func (l *Loop) conclude(ctx, keep context.Context, it rules.Iteration, final string) (rules.Decision, error) {
	l.commit(keep, it)
	now := time.Now()
	was := l.mem
	l.mem = l.mem.After(it, l.o, now)
	l.it = it
	f := l.facts(ctx, it.After)
	f.Report = it.Report
	if rules.IsLimit(it.Outcome.Class) {
		again := l.mem.Limits
		if _, met := l.limits[it.Agent]; !met { // another agent's refusals say nothing about this one
			again = 1
		}
		l.limits[it.Agent] = rules.LimitEnd(it.Outcome, again, now)
		names := l.candidates(it.Task.Choice.Or(task.Choice{Agent: l.o.Agent}))
		f.Fallback, _ = l.free(names, now)
		f.LimitedUntil = l.freeAt(append(names, it.Agent), now)
	}
	d := rules.Decide(f)
	if l.mem.Iterations > was.Iterations { // a call that did nothing keeps what the next one has to know
		l.notes = notes{last: summary(it, final)}
	}
	l.note(d)
	if d.PutAside {
		l.tasks.of(it.Task.ID).aside = d.Reason
		l.mem.Breaker.SameError, l.mem.Breaker.LastError = 0, "" // the next task begins afresh
	}
	for _, hint := range rules.Hints(it) {
		if !slices.Contains(l.notes.feedback, hint) { // after a failure of the service the notes stay
			l.notes.feedback = append(l.notes.feedback, hint)
		}
	}
	if slices.ContainsFunc(it.Left.Tasks, func(t task.Task) bool { return t.ID == it.Task.ID && t.Done }) {
		l.tasks.settled(it.Task.ID)
	}
	if err := l.save(it, was); err != nil {
		return rules.Decision{}, err
	}
	l.record(d, true)
	if err := l.leave(keep, it, d.Rule); err != nil && keep.Err() == nil {
		return rules.Decision{}, err
	}
	if l.rawSize > pruneEvery {
		l.rawSize = 0
		l.lost(logs.Prune(l.d.State.LogsDir(), logsKept))
	}
	return d, nil
}
