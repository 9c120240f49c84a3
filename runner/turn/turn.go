// Package turn carries out one Assignment: one agent, in one workspace, and the
// proof of what it did.
//
//	prepare    look at the workspace
//	call       bytes -> decoder -> events -> transcript     the only long step
//	observe    git before and after -> change; the plan as the agent left it
//	audit      change + plan -> findings
//	check      the project's own checks against the baseline
//	settle     all of it -> one Result                       pure
//
// Values flow down. A turn knows neither the plan's format nor the counters of
// the run, and it decides nothing: it reports, and the run decides.
package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/sandbox"
	"ralph/runner/task/store"
	"ralph/runner/turn/protect"
	"ralph/runner/turn/stop"
	"ralph/state"
)

const (
	// finalGrace is how long an agent may keep running after its final record.
	finalGrace = 30 * time.Second
	killGrace  = 2 * time.Second
)

// Worker carries out the turns of one workspace, one at a time. The zero value
// works, with this process's environment. A new Worker takes the workspace as it
// then is for the user's: changes of earlier turns included.
type Worker struct {
	Env         []string // that agents and checks start from; nil: this process's
	Size        ptyexec.Size
	ClockOffset time.Duration       // of the run's clock: that of this machine; a limit ends by the run's
	Resize      <-chan ptyexec.Size // nil: never
	Kill        <-chan struct{}     // closed: end the child without any grace; nil: never
	Log         hclog.Logger        // nil: nothing is logged
	// Find looks for checks in a project that had none, after these files have
	// changed; nil: nobody looks.
	Find func(dir string, changed []string) []gate.Check
	// Retest finds checks that pass for another reason than the work; nil: nobody looks.
	Retest func(context.Context, Proven) (Retested, error)
	// UserChanges stores which uncommitted changes are the user's, for a run that continues this one; zero: not stored.
	UserChanges git.OwnStore
	// Begun is the start of an iteration that was cut off and now runs again; zero: none.
	Begun git.State
	// Records is for an Assignment of another process: see sandbox.Contained.
	Records string

	// Trust names the programs that git may start; nil: those that are configured before the first turn.
	Trust *command.Trust

	spare  ptyexec.Spare // the next call's guard, started while this call runs
	before *git.Snapshot // the workspace as it is now; nil: look again
	blind  bool          // git could not say what the latest turn left
	trail  trail
	steer  steerMemory // of the worker's first turn
	by     protect.Written
	view   git.HiddenView // what git did not show after the latest turn

	Shared  *Shared      // with the other workers of the run; nil: there are none
	refs    git.RefsView // the refs at the time of before
	branch  string       // that was checked out before the first turn; empty: none, as in a slot
	missing []git.Lost   // what is gone, and what became of HEAD, in all turns of the run
	moved   []string
}

// Close waits for what the worker still writes and ends the spare guard.
//
//nolint:contextcheck,nolintlint // for its callers: the context of a run has often ended by now
func (w *Worker) Close() {
	w.finishKeeping()
	ctx, cancel := context.WithTimeout(command.With(context.Background(), w.Trust), finalGrace)
	defer cancel()
	if w.trail.start != nil && w.UserChanges.Path != "" && !w.blind && w.look(ctx, w.trail.dir) == nil {
		_ = w.UserChanges.End(w.before.Changes()) // if it fails, the next run takes what is left for the user's changes
	}
	w.spare.Close()
}

// Forget makes the next turn look at the workspace again: people may have edited it.
func (w *Worker) Forget() { w.before = nil }

// Ready keeps the workspace as it is now, if it is not kept yet. Later changes do not count as the user's.
func (w *Worker) Ready(ctx context.Context, a Assignment) error {
	w.steer.Steering = Steering(a.Agent.Filter, "")
	err := w.look(w.git(ctx, a), a.Dir)
	if err == nil {
		w.openTrail(w.git(ctx, a), a)
	}
	return err
}

// Run carries out one assignment. emit gets each event, without a number, on one goroutine at a time.
// The context is cancelled to end the turn, by a person with a *stop.Stopped as its cause; the result
// then says what is known so far.
//
// Whatever the agent does is part of the Result. The error is ralph's own: an assignment that cannot
// be carried out, a full disk, a git that fails.
func (w *Worker) Run(ctx context.Context, a Assignment, emit func(state.Event)) (Result, error) {
	none := Result{Task: a.Task}
	if err := a.Validate(); err != nil {
		return none, err
	}
	if w.Log == nil {
		w.Log = hclog.NewNullLogger()
	}
	ctx = w.git(ctx, a)
	t := &turn{w: w, a: a, emit: emit, checks: a.Checks.Clone()}
	t.secrets = logs.NewValues(a.Agent.Filter.Secrets(a.Agent.Spec, agent.Request{ArgvCall: agent.ArgvCall{Model: a.Agent.Model}, Env: w.env()}))
	p, err := sandbox.StartProxy(ctx, a.Sandbox.Settings, func(host string) { t.tell(state.Blocked{Host: host}) })
	if err != nil {
		return none, err
	}
	defer p.Stop()
	t.route = p.Route
	if a.Part == Whole {
		return t.fullTurn(ctx)
	}
	f, err := t.partialTurn(ctx)
	t.addFindings(&f, t.git.findings())
	return settle(a, f), err
}

// turn is one assignment under way.
type turn struct {
	w       *Worker
	a       Assignment
	emit    func(state.Event)
	checks  Checks        // changes as checks run
	secrets logs.Values   // values of variables that must not be shown
	route   sandbox.Route // to the hosts of SANDBOX_NET
	plan    *protect.Plan // as it was before the call
	sending sync.Mutex    // the agent and the proxy of the sandbox report at the same time
	git     putBack
	refs    *turnRefs
}

// Redacted hides keys and tokens in the words of an event.
func Redacted(p state.Payload) state.Payload { return redactPayload(p, logs.Redact) }

// redacted is like Redacted, and also hides the secrets of this turn.
func (t *turn) redacted(p state.Payload) state.Payload { return redactPayload(p, t.secrets.Redact) }

// tell hands a payload on. Keys and tokens are hidden before anything looks at
// it: an agent's words come back in state files, in logs and in prompts.
func (t *turn) tell(p state.Payload) { t.send(t.redacted(p)) }

func (t *turn) send(p state.Payload) {
	if tool, ok := p.(state.Tool); ok && t.refs != nil && !tool.File {
		t.w.Shared.ran(t.refs, tool.Arg)
	}
	t.sending.Lock()
	defer t.sending.Unlock()
	t.emit(state.NewEvent(t.a.Origin, time.Now(), p))
}

// fullTurn is a turn with an agent call.
func (t *turn) fullTurn(ctx context.Context) (Result, error) {
	f := facts{started: time.Now(), before: store.Read(t.a.Plan), checks: t.checks}
	f.left, f.audit.Worked = f.before, t.a.Known.Worked
	err := t.w.Ready(ctx, t.a)
	if err != nil || ctx.Err() != nil {
		if f.cut = stop.By(ctx); f.cut != "" {
			err = nil
		}
		return settle(t.a, f), err
	}
	t.refs = t.w.Shared.begin(t.a.Task, t.w.refs)
	defer t.w.Shared.end(t.refs)
	kept, steering := protectFiles(t.a.Dir, t.a.Protect), t.steering()
	files := protect.Call{Plan: t.a.Plan, Task: t.a.Task, Logs: t.a.LogDir, Iteration: t.a.Origin.Iteration,
		State: t.a.State}
	t.plan = protect.Remember(t.a.Sandbox.On(), files, f.before)
	locked := git.Locked(t.a.Dir)
	f.call, err = t.call(ctx, f.before)
	by := &store.JournalPeople{File: t.a.Plan, From: f.before, Since: f.started, Watched: f.call.edits, Exclusive: t.plan.Apart()}
	if err != nil || !f.call.made { // a call that ralph could not record may still have changed the plan
		_, broken := t.plan.Settle(by.Now)
		return settle(t.a, f), errors.Join(err, broken)
	}
	if f.call.cancelled {
		f.cut = stop.By(ctx)
	}
	t.tell(state.Phase{Name: state.PhaseObserving}) // the run repairs its own files first
	var broken error
	f.damaged, broken = kept.Restore(t.a.Dir)
	f.steered, f.by = steering.Changed(t.w.steer.Read(t.a.Dir)), t.w.by.Look(t.a.Plan.Edits, f.started)
	asked := time.Now()
	f.plan, err = t.plan.Settle(func() (store.Plan, bool) { asked = time.Now(); return by.Now() })
	f.before = by.Plan // the agent's changes count from here
	f.people = &store.JournalPeople{File: t.a.Plan, From: by.Plan, Since: asked.Add(-2 * protect.RecordDelay)}
	known := by.Events(t.a.Task, "")
	for _, c := range by.Events(t.a.Task, f.plan.Left) {
		t.tell(c)
	}
	if errors.Join(broken, err) != nil {
		return settle(t.a, f), errors.Join(broken, err)
	}
	f.lost = cmp.Or(repairGit(t.a.Dir, f.steered), t.git.leads()) // before git runs
	if err := t.observe(ctx, &f); err != nil {
		return settle(t.a, f), err
	}
	for _, c := range f.people.Events(t.a.Task, "") { // what people did after that
		if !slices.Contains(known, c) {
			t.tell(c)
		}
	}
	f.audit = audited(t.a, f)
	t.tellFindings(f.audit.Findings, f.audit.answers)
	t.addFindings(&f, t.git.findings())
	t.tellLock(locked)
	if f.lost != "" {
		return settle(t.a, f), nil
	}
	found, err := t.plan.GuardChecks(t.readOnly() != nil, func() error { return t.prove(ctx, &f) })
	t.addFindings(&f, found)
	found, answers := f.audit.credit(t.a, f)
	f.audit.Findings = append(f.audit.Findings, found...)
	t.tellFindings(found, answers)
	t.retest(ctx, &f)
	t.addFindings(&f, t.git.findings())
	if stop.By(ctx) == state.RequestSkip {
		f.cut = state.RequestSkip
	}
	f.checks = t.checks
	return settle(t.a, f), err
}

// git is a context in which git may start the programs that were configured before the worker's
// first turn, with the environment of checks.
func (w *Worker) git(ctx context.Context, a Assignment) context.Context {
	if w.Trust == nil {
		trust, err := command.NewTrust(ctx, a.Dir, a.Agent.Filter.Checks(w.env()))
		if err != nil && ctx.Err() != nil {
			return ctx // the turn ends before it begins
		}
		w.Trust = trust // after a failure of git: nothing is trusted
	}
	return command.With(ctx, w.Trust)
}

// look makes sure that w.before is the workspace as it is now.
func (w *Worker) look(ctx context.Context, dir string) error {
	if w.before != nil {
		return nil
	}
	s, err := git.Observe(ctx, dir)
	if err != nil {
		return err
	}
	if start := w.trail.start; start != nil { // a check or a person may have replaced the repository
		if why := start.Lost(ctx, s); why != "" {
			return fmt.Errorf("%s: %w", why, ErrLost)
		}
	}
	if w.refs, err = git.LookAtRefs(ctx, dir, s); err != nil {
		return err
	}
	w.before = &s
	return nil
}

// ErrLost is returned when the repository of the worker's first turn is gone or replaced.
var ErrLost = errors.New("ralph can no longer verify the work")

// readPlan reads the plan together with the record of people's edits: each may change after the other was read, and
// ralph task writes the record a moment after the plan.
func (t *turn) readPlan(f *facts) {
	if f.people == nil {
		f.people = &store.JournalPeople{File: t.a.Plan, From: f.before, Since: time.Now()}
	}
	f.before, _ = f.people.Now()
	claims := ClaimsDone
	if t.a.Known.Ticked > 0 {
		claims = confirms
	}
	for waited := false; ; {
		known := len(f.people.Changes)
		f.left = store.Read(t.a.Plan).Claimed(f.before, t.a.Task.ID, f.plan.Says || claims(f.call.transcript.Final, t.a.Task))
		if f.before, _ = f.people.Now(); len(f.people.Changes) != known {
			continue
		}
		if waited || t.a.Plan.Edits == "" || !protect.Touches(f.before, f.left, t.a.Task.ID) {
			return
		}
		time.Sleep(protect.RecordDelay)
		waited = true
		f.before, _ = f.people.Now()
	}
}

// observe looks at what the call left: the workspace and the plan.
func (t *turn) observe(ctx context.Context, f *facts) error {
	asked := ctx
	ctx, cancel := stop.Outlast(ctx)
	defer cancel()
	f.found = *t.w.before
	var after git.Snapshot
	var err error
	if f.lost == "" {
		after, err = t.observeRepository(ctx, f)
	}
	f.blind, t.w.blind = err != nil, err != nil
	t.readPlan(f)
	if f.blind {
		t.w.before = nil
		switch {
		case asked.Err() != nil: // a slow repository does not keep a person from ending the run
			return nil
		case ctx.Err() != nil || !f.found.Repo:
			return err
		}
		f.lost = err.Error()
	}
	if f.lost != "" {
		t.w.finishKeeping()
		t.w.trail, t.w.UserChanges.Continues = trail{}, false // nothing may be committed or kept elsewhere
		return nil
	}
	if f.change, err = f.found.Compare(after).Committed(ctx, t.a.Dir, f.found, after); err != nil {
		t.w.Log.Warn("the files of the new commits are unknown", "error", err)
	}
	f.head, f.changed = after.Head, changedFiles(t.a.Dir, f.change)
	t.w.before = &after
	if f.observed = f.found.Repo && after.Repo; !f.observed {
		return nil
	}
	f.around = t.lookAround(ctx, f.change, f.found, after)
	f.around.Repository = t.repository(f.vanished, after)
	if f.cut == "" && f.left.Error == "" {
		if f.texts, err = f.change.Texts(ctx, t.a.Dir, f.found, after); err != nil {
			t.w.Log.Warn("the changed files cannot be compared", "error", err)
		}
		f.around.Conflicts = git.Conflicts(ctx, t.a.Dir, f.texts)
		in := auditInput(t.a, *f)
		needed, err := neededIgnored(ctx, t.a.Dir, t.w.view, in, f.started)
		if f.around.Hidden = append(f.around.Hidden, needed...); err != nil {
			t.w.Log.Warn("cannot look for ignored code that the change needs", "error", err)
		}
		if !in.Partial {
			t.w.trail.traces.Add(t.a.Origin.Iteration, in.Files)
		}
		t.search(ctx, f, in)
	}
	return nil
}

// changedFiles are the files of a change as the checks know them: relative to the project, which may be a
// folder of the repository.
func changedFiles(dir string, c git.Change) gate.Changed {
	if c.Count > len(c.Files) {
		return gate.Changed{All: true}
	}
	inProject := command.Relative(dir)
	var files []string
	for _, file := range c.Files {
		files = append(files, inProject(file))
	}
	return gate.Changed{Files: files}
}
