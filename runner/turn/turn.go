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
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/git/command"
	"ralph/runner/git/hidden"
	"ralph/runner/turn/redact"
	"ralph/runner/turn/steer"
	"ralph/state"
)

const (
	// finalGrace is how long an agent may live on after its final record.
	finalGrace = 30 * time.Second
	killGrace  = 2 * time.Second
	// observeBound is what looking at the workspace may take after a person ended the turn.
	observeBound = 5 * time.Second
	// observeMost is more than git needs for any tree, and ends one that hangs.
	observeMost = 5 * time.Minute
)

// Stopped is the cause of a context that a person's request ended.
type Stopped struct{ By state.Request }

// Error implements error.
func (s *Stopped) Error() string { return "ralph " + string(s.By) }

// stoppedBy is the request that ended the context; abort stands for a signal,
// too. Empty: the context is not over.
func stoppedBy(ctx context.Context) state.Request {
	if ctx.Err() == nil {
		return ""
	}
	if s := (*Stopped)(nil); errors.As(context.Cause(ctx), &s) {
		return s.By
	}
	return state.RequestAbort
}

// Worker carries out the turns of one workspace, one at a time. What it
// remembers of the workspace only saves time: a fresh Worker comes to the same
// results. The zero value works, with this process's environment.
type Worker struct {
	Env    []string // that agents and checks start from; nil: this process's
	Size   ptyexec.Size
	Resize <-chan ptyexec.Size // nil: never
	Kill   <-chan struct{}     // closed: end the child without any grace; nil: never
	Log    hclog.Logger        // nil: nothing is logged
	// Find looks for checks in a project that had none, after these files have
	// changed; nil: nobody looks.
	Find func(dir string, changed []string) []gate.Check

	trust  *command.Trust // what git may start; nil: not looked at yet
	spare  ptyexec.Spare  // the next call's guard, started while this call runs
	before *git.Snapshot  // the workspace as it is now; nil: look again
	report gate.Report    // of the latest checks; describes the workspace while before is set
	trail  trail
	steer  steer.Files // as the worker's first turn found them
	view   hidden.View // what git did not show after the latest turn
}

// Run carries out one assignment. A worker that serves only this one is made
// for it: it uses this process's environment.
func Run(ctx context.Context, a Assignment, emit func(state.Event)) (Result, error) {
	w := &Worker{}
	defer w.Close()
	return w.Run(ctx, a, emit)
}

// Close waits for what the worker still writes and ends the spare guard.
func (w *Worker) Close() {
	w.finishKeeping()
	w.spare.Close()
}

// Forget makes the next turn look at the workspace again: people may have
// edited it.
func (w *Worker) Forget() { w.before = nil }

// Run carries out one assignment. emit gets each event, without a number, on
// one goroutine at a time. The context is cancelled to end the turn, by a person
// with a *Stopped as its cause; the result then says what is known so far.
//
// Whatever the agent does is part of the Result. The error is ralph's own: an
// assignment that cannot be carried out, a full disk, a git that fails.
func (w *Worker) Run(ctx context.Context, a Assignment, emit func(state.Event)) (Result, error) {
	if err := a.Validate(); err != nil {
		return Result{}, err
	}
	if w.Log == nil {
		w.Log = hclog.NewNullLogger()
	}
	ctx = w.git(ctx, a)
	t := &turn{w: w, a: a, emit: emit, checks: a.Checks.clone()}
	t.secrets = logs.NewValues(a.Agent.Filter.Secrets(a.Agent.Spec, agent.Request{Env: w.env(), Model: a.Agent.Model}))
	if a.Part != Whole {
		f, err := t.checkOnly(ctx)
		return settle(a, f), err
	}
	return t.whole(ctx)
}

// turn is one assignment under way.
type turn struct {
	w      *Worker
	a      Assignment
	emit   func(state.Event)
	checks Checks // changes as checks run
	// secrets are the values of variables that nothing may show.
	secrets logs.Values
}

// Redacted hides keys and tokens in the words of an event.
func Redacted(p state.Payload) state.Payload { return redact.Payload(p, logs.Redact) }

// redacted is Redacted with the values that this turn must not show.
func (t *turn) redacted(p state.Payload) state.Payload { return redact.Payload(p, t.secrets.Redact) }

// tell hands a payload on. Keys and tokens are hidden before anything looks at
// it: an agent's words come back in state files, in logs and in prompts.
func (t *turn) tell(p state.Payload) { t.send(t.redacted(p)) }

func (t *turn) send(p state.Payload) { t.emit(state.NewEvent(t.a.Origin, time.Now(), p)) }

// whole is a turn with an agent call.
func (t *turn) whole(ctx context.Context) (Result, error) {
	f := facts{started: time.Now(), before: ReadPlan(t.a.Plan), checks: t.checks}
	f.left, f.audit.worked = f.before, t.a.Known.Worked
	if err := t.w.prepare(ctx, t.a); err != nil || ctx.Err() != nil {
		f.cut = stoppedBy(ctx)
		if f.cut != "" {
			err = nil
		}
		return settle(t.a, f), err
	}
	kept, steering := steer.Protect(t.a.Protect), t.steering()
	var err error
	if f.call, err = t.call(ctx); err != nil || !f.call.made {
		return settle(t.a, f), err
	}
	if f.call.cancelled {
		f.cut = stoppedBy(ctx)
	}
	t.tell(state.Phase{Name: state.PhaseObserving}) // the run repairs its own files first
	if f.damaged, err = kept.Restore(t.a.Dir); err != nil {
		return settle(t.a, f), err
	}
	f.steered = steering.Changed(steer.Read(t.a.Dir))
	if err := t.observe(ctx, &f); err != nil {
		return settle(t.a, f), err
	}
	f.audit = audited(t.a, f)
	t.tellFindings(f.audit)
	if f.lost != "" {
		return settle(t.a, f), nil
	}
	err = t.prove(ctx, &f)
	if stoppedBy(ctx) == state.RequestSkip {
		f.cut = state.RequestSkip
	}
	f.checks = t.checks
	return settle(t.a, f), err
}

// prepare makes sure that the workspace as it is now is known, and that the
// state before the worker's first turn can be gone back to.
func (w *Worker) prepare(ctx context.Context, a Assignment) error {
	if err := w.look(ctx, a.Dir); err != nil {
		return err
	}
	w.openTrail(ctx, a)
	return nil
}

// git is a context in which git may start the programs that were set before the worker's
// first turn, with an environment for checks.
func (w *Worker) git(ctx context.Context, a Assignment) context.Context {
	if w.trust == nil {
		trust, err := command.NewTrust(ctx, a.Dir, a.Agent.Filter.Checks(w.env()))
		if err != nil && ctx.Err() != nil {
			return ctx // the turn ends before it began
		}
		w.trust = trust // after a failure of git: nothing is trusted
	}
	return command.With(ctx, w.trust)
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
	if start := w.trail.start; start != nil { // also what a check or a person did must not pass for work
		if why := start.Lost(ctx, s); why != "" {
			return fmt.Errorf("%s: %w", why, ErrLost)
		}
	}
	w.before = &s
	return nil
}

// ErrLost says that the repository of the worker's first turn is gone.
var ErrLost = errors.New("nothing can be proved any more")

// outlast is a context that ends observeBound after ctx, and in observeMost:
// what an interrupted call did must still be reported.
func outlast(ctx context.Context) (context.Context, func()) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), observeMost)
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(observeBound, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() { stop(); cancel() }
}

// observe looks at what the call left: the workspace and the plan.
func (t *turn) observe(ctx context.Context, f *facts) error {
	asked := ctx
	ctx, cancel := outlast(ctx)
	defer cancel()
	before := *t.w.before
	t.w.report = gate.Report{} // from before the call
	after, err := git.Observe(ctx, t.a.Dir)
	f.left = ReadPlan(t.a.Plan)
	if f.blind = err != nil; f.blind {
		t.w.before = nil
		switch {
		case asked.Err() != nil: // a slow repository does not keep a person from ending the run
			return nil
		case ctx.Err() != nil || !before.Repo:
			return err
		}
		f.lost = err.Error()
	} else {
		f.lost = before.Lost(ctx, after)
	}
	if f.lost != "" {
		t.w.finishKeeping()
		t.w.trail = trail{} // nothing may be committed or kept elsewhere
		return nil
	}
	if f.change, err = before.Compare(after).Committed(ctx, t.a.Dir, before, after); err != nil {
		t.w.Log.Warn("the files of the new commits are unknown", "error", err)
	}
	f.changed = changedFiles(t.a.Dir, f.change)
	t.w.before = &after
	if f.observed = before.Repo && after.Repo; !f.observed {
		return nil
	}
	f.around = t.lookAround(ctx, f.change, before, after)
	if f.cut == "" && f.left.Error == "" {
		if f.texts, err = f.change.Texts(ctx, t.a.Dir, before, after); err != nil {
			t.w.Log.Warn("the changed files cannot be compared", "error", err)
		}
	}
	return nil
}
