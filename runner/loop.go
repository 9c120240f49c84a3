// Package runner is the loop: admit, run the agent, observe, decide, record.
//
//	        +--------------------- continue | retry ----------------------+
//	        v                                                             |
//	admit ----> plan, prompt ----> agent in a pty ----> observe ----> decide ----> stop
//	  |  ^                                                                |
//	  |  +---------------------------- wait <-----------------------------+
//	  +--> stop
//
// Values flow down. The only callback is the event handler of the agent call.
// The decision is pure (package rules); everything that it may look at is a
// fact, and the name of the rule that matched is shown everywhere.
//
// size of package: the steps of one loop over one state, a file each; what needs no state is in package rules
package runner

import (
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
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// Deps is what a loop works with. Show, Tick, Resize and Kill may be nil.
type Deps struct {
	Dir     string // the project
	RunID   string
	Resumed bool // continue the counters of the last run
	// Unattended: no person resumed it, so that a usage limit is waited out first.
	Unattended bool
	// Agents finds an agent by its name: the option's, a plan's, a task's or a
	// fallback. The error names those that exist.
	Agents func(name string) (Agent, error)
	Env    []string
	Filter agent.EnvFilter // what of Env agents and checks get
	Checks []gate.Check
	Mode   gate.Mode
	// Detect looks for checks in a project that had none, after these files have
	// changed; nil: nobody looks.
	Detect func(changed []string) ([]gate.Check, gate.Mode)
	State  *state.Writer
	Log    hclog.Logger
	Prompt string // path of the user's prompt
	Plan   string // path of the plan, empty for none

	// Show gets every event, from one goroutine at a time.
	Show func(state.Event)
	// Tick is called about once a second while the loop waits.
	Tick   func(left time.Duration, d rules.Decision)
	Size   ptyexec.Size
	Resize <-chan ptyexec.Size
	Kill   <-chan struct{} // closed: end the agent without any grace
}

// Result is how a run ended.
type Result struct {
	Decision   rules.Decision
	RunID      string
	Iterations int
	Usage      state.Usage
	Done       int
	Total      int
	Findings   int // of the audit
}

// Loop is one run.
type Loop struct {
	o       rules.Options
	d       Deps
	board   *board
	events  *logs.File
	live    *logs.File
	started time.Time
	spare   ptyexec.Spare // the next call's guard, started while this call runs

	mem        rules.Memory
	it         rules.Iteration // the latest
	calls      state.Calls
	signals    state.Signals
	session    state.Session
	limits     map[string]time.Time // ends of the usage limits that are known, by agent
	current    casting              // who works, or worked last
	hadPlan    bool
	before     *git.Snapshot // of the tree as the last iteration left it; nil: look again
	notes      notes
	tasks      ledger
	unfinished bool              // the run before did not complete
	unproved   string            // task of a call that was killed: its tick met no check; empty: none
	doubted    bool              // the end was put off once, because its proof was weakened
	findings   int               // of the audit
	suite      *gate.Suite       // nil: no checks
	report     gate.Report       // of the latest checks
	found      []string          // its findings
	keeper     *git.Keeper       // nil: outside git
	keeping    *git.Keeping      // the state that is being kept; nil: none
	start      *git.Snapshot     // of the tree when this process began
	told       map[string]string // why files were not committed, as it was told last
	base       string            // the kept state that the next iteration begins with
	begun      int               // the iteration that was kept last
	from       string            // the kept state that it began with
	rawSize    int64             // raw output since the last pruning
	counted    state.Usage       // usage that the agent's session has reported in all

	mu      sync.Mutex
	pending []state.Request
	cancel  context.CancelCauseFunc // of the running agent call; nil: none
	broken  error                   // why state cannot be written any more
	wake    chan struct{}
}

// notes is what the next prompt says about the past.
type notes struct {
	last     string
	refused  string
	feedback []string
}

// New prepares a run; nothing is written yet.
func New(o rules.Options, d Deps) *Loop {
	return &Loop{o: o, d: d, wake: make(chan struct{}, 1), tasks: ledger{}, limits: map[string]time.Time{}}
}

// Run runs until a decision stops it. The context is cancelled with an
// *Interrupt as its cause. The error is ralph's own failure; then the result's
// decision is a stop with ExitError.
func (l *Loop) Run(ctx context.Context) (Result, error) {
	if err := l.open(); err != nil {
		return l.result(failed(err)), err
	}
	defer l.spare.Close()
	stop := l.watch()
	d, err := l.loop(ctx)
	stop()
	if err == nil {
		err = l.broken
	}
	if err != nil {
		d = failed(err)
	}
	return l.result(d), errors.Join(err, l.close(d))
}

func failed(err error) rules.Decision {
	d := rules.Decision{Action: rules.ActionStop, Rule: "error", Reason: err.Error(), Exit: rules.ExitError,
		ExitReason: "error", Status: state.StatusFailed, Next: "put that right (.ralph/logs/ralph.log may say more), then: ralph resume"}
	if locked := (*state.LockedError)(nil); errors.As(err, &locked) {
		d.Exit, d.Next = rules.ExitLocked, "watch the other one: ralph monitor"
	}
	return d
}

func (l *Loop) result(d rules.Decision) Result {
	p := l.it.After
	return Result{Decision: d, RunID: l.d.RunID, Iterations: l.mem.Iterations, Usage: l.mem.Usage, Done: p.Done, Total: p.Total, Findings: l.findings}
}

func (l *Loop) loop(ctx context.Context) (rules.Decision, error) {
	if err := l.proveLeft(ctx); err != nil {
		return rules.Decision{}, err
	}
	for {
		d, next, err := l.admit(ctx)
		if err != nil || d.Action == rules.ActionStop {
			return d, err
		}
		if d.Action == rules.ActionWait {
			l.record(d, false)
			if err := l.wait(ctx, d); err != nil {
				return rules.Decision{}, err
			}
			continue
		}
		if l.takePause() {
			if err := l.pause(ctx); err != nil {
				return rules.Decision{}, err
			}
			continue
		}
		if l.take(state.RequestSkip) != "" { // asked for while no call ran
			l.tasks.of(next.ID).skipped = true
			continue
		}
		made := l.mem.Iterations
		d, err = l.iterate(ctx, next)
		if err != nil || d.Action == rules.ActionStop {
			return d, err
		}
		last := l.o.MaxIterations > 0 && l.mem.Iterations >= l.o.MaxIterations
		if d.Until.IsZero() && l.mem.Iterations > made && !last {
			d.Until = time.Now().Add(l.o.Delay)
		}
		if !d.Until.IsZero() {
			if err := l.wait(ctx, d); err != nil {
				return rules.Decision{}, err
			}
		}
	}
}

// admit decides whether another call may be made, and for which task.
func (l *Loop) admit(ctx context.Context) (rules.Decision, task.Task, error) {
	now := time.Now()
	l.calls = rules.ThisHour(l.calls, now)
	if b := rules.CoolDown(l.mem.Breaker, l.o, now); b.State != l.mem.Breaker.State {
		if err := l.moveBreaker(b); err != nil {
			return rules.Decision{}, task.Task{}, err
		}
	}
	list, plan := l.loadPlan()
	f := l.facts(ctx, plan)
	f.Starting = true
	if plan.Total > 0 && plan.Remaining == 0 && f.Interrupt == nil && l.suite != nil {
		work, done := l.callContext(ctx)
		defer done()
		if err := l.takeBaseline(work, task.Task{}); err != nil && work.Err() == nil {
			return rules.Decision{}, task.Task{}, err
		}
		rep, err := l.runChecks(work, gate.Changed{All: l.unfinished || l.mem.Iterations == 0, Final: true})
		if err != nil && work.Err() == nil {
			return rules.Decision{}, task.Task{}, err
		}
		f.Report = rep
		if f.Interrupt = l.interrupt(ctx); f.Interrupt == nil && work.Err() != nil {
			return rules.Decision{Action: rules.ActionContinue}, task.Task{}, nil // skipped: what was not checked is not complete
		}
	}
	next, open := l.choose(list)
	if plan.Remaining > 0 && !open {
		for _, t := range list.Blocked() {
			f.Undoable = append(f.Undoable, t.ID)
		}
		for _, t := range list.Tasks {
			if why := l.tasks.of(t.ID).aside; why != "" && !t.Done {
				f.PutAside = append(f.PutAside, fmt.Sprintf("%q: %s", t.Title, why))
			}
		}
	}
	f.LimitedUntil = l.freeAt(l.candidates(next.Choice.Or(list.Choice).Or(task.Choice{Agent: l.o.Agent})), now)
	d := rules.Decide(f)
	l.note(d)
	if d.Action == rules.ActionStop {
		l.it.After = plan
		l.record(d, false)
	}
	return d, next, nil
}

// facts gathers what both kinds of decisions look at.
func (l *Loop) facts(ctx context.Context, plan rules.PlanFacts) rules.Facts {
	var held []string
	if l.it.Outcome.Class == agent.ClassAuth {
		held = l.d.Filter.Held(l.current.agent.Spec, l.request(l.current, "", ""))
	}
	return rules.Facts{
		It: l.it, Held: held, Memory: l.mem, Options: l.o, Plan: plan, HadPlan: l.hadPlan, HasChecks: l.gated(),
		Calls: l.calls, Started: l.started, Now: time.Now(), Interrupt: l.interrupt(ctx),
	}
}

// note keeps what a decision wants the agent to know.
func (l *Loop) note(d rules.Decision) {
	if d.Refused != "" {
		l.notes.refused = d.Refused
	}
	for _, text := range d.Feedback { // a check before an iteration may only repeat the one after the last
		if !slices.Contains(l.notes.feedback, text) {
			l.notes.feedback = append(l.notes.feedback, text)
		}
	}
}
