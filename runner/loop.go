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
	"maps"
	"os"
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
	skipped    map[string]bool   // tasks that a person put off
	aside      map[string]string // tasks that were given up, and why
	tries      map[string]int    // failed checks of each task
	unfinished bool              // the run before was killed or ended by a person
	suite      *gate.Suite       // nil: no checks
	report     gate.Report       // of the latest checks
	found      []string          // its findings
	keeper     *git.Keeper       // nil: outside git
	keeping    *git.Keeping      // the state that is being kept; nil: none
	start      *git.Snapshot     // of the tree when this process began
	base       string            // the kept state that the next iteration begins with
	worked     map[string]bool   // tasks that something was done for
	refusals   map[string]int    // ticks without work, by task
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
	return &Loop{o: o, d: d, wake: make(chan struct{}, 1), skipped: map[string]bool{}, aside: map[string]string{}, tries: map[string]int{}, worked: map[string]bool{}, refusals: map[string]int{}, limits: map[string]time.Time{}}
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
	return rules.Decision{Action: rules.ActionStop, Rule: "error", Reason: err.Error(), Exit: rules.ExitError,
		ExitReason: "error", Status: state.StatusFailed, Next: "see .ralph/logs/ralph.log"}
}

func (l *Loop) result(d rules.Decision) Result {
	p := l.it.After
	return Result{Decision: d, RunID: l.d.RunID, Iterations: l.mem.Iterations, Usage: l.mem.Usage, Done: p.Done, Total: p.Total}
}

func (l *Loop) loop(ctx context.Context) (rules.Decision, error) {
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
			l.skipped[next.ID] = true
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
		if err := l.takeBaseline(ctx, task.Task{}); err != nil && ctx.Err() == nil {
			return rules.Decision{}, task.Task{}, err
		}
		rep, err := l.runChecks(ctx, gate.Changed{All: true})
		if err != nil && ctx.Err() == nil {
			return rules.Decision{}, task.Task{}, err
		}
		f.Report = rep
		f.Interrupt = l.interrupt(ctx)
	}
	next, open := l.choose(list)
	if plan.Remaining > 0 && !open {
		for _, t := range list.Blocked() {
			f.Undoable = append(f.Undoable, t.ID)
		}
		for _, t := range list.Tasks {
			if why := l.aside[t.ID]; why != "" && !t.Done {
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
	return rules.Facts{
		It: l.it, Memory: l.mem, Options: l.o, Plan: plan, HadPlan: l.hadPlan, HasChecks: l.gated(),
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

// open reads what earlier runs left and announces the run.
func (l *Loop) open() error {
	l.started = time.Now()
	w := l.d.State
	old, _ := w.Status() // unusable ones were set aside when the lock was taken
	var err error
	if l.mem.Breaker, err = w.Breaker(); err != nil {
		return err
	}
	if l.calls, err = w.Calls(); err != nil {
		return err
	}
	if l.session, err = w.Session(); err != nil {
		return err
	}
	if err := w.ClearRun(); err != nil {
		return err
	}
	if l.d.Resumed {
		l.mem.Usage, l.mem.Iterations = old.Usage, old.LoopCount
		l.started = l.started.Add(-max(old.Timestamp.Sub(old.StartedAt), 0)) // the time between the runs does not count
	}
	killed := old.Status == state.StatusWaiting || old.Status == state.StatusPaused || old.Status == state.StatusRunning || old.ExitReason == "interrupted" || old.ExitReason == "aborted"
	l.unfinished = killed
	if old.Task.ID != "" && killed {
		l.worked[old.Task.ID] = true // a killed call may have done the work that the next one only ticks
	}
	l.recallLimits(old)
	if l.o.AutoReset && l.mem.Breaker.State != state.BreakerClosed {
		if err := l.moveBreaker(state.Breaker{State: state.BreakerClosed, Reason: "reset at the start of a run", LastChange: l.started}); err != nil {
			return err
		}
	}
	if l.events, err = logs.OpenFile(w.EventsPath(), 20, 5); err != nil {
		return err
	}
	if l.live, err = logs.OpenFile(w.LiveLogPath(), 10, 3); err != nil {
		return err
	}
	if info, err := os.Stat(w.EventsPath()); err == nil && info.Size() > 0 && !l.d.Resumed {
		if err := l.events.Rotate(); err != nil {
			return err
		}
	}
	l.openSuite()
	return l.announce(old)
}

// recallLimits takes over the usage limits that an earlier run met. A person
// who resumes a run wants it to try.
func (l *Loop) recallLimits(old state.Status) {
	if !l.d.Resumed || l.d.Unattended {
		maps.Copy(l.limits, old.LimitedUntil)
	}
}

func (l *Loop) announce(old state.Status) error {
	_, plan := l.loadPlan()
	l.it.After = plan
	l.board = newBoard(l.d.State, state.Status{
		RunID: l.d.RunID, PID: os.Getpid(), StartedAt: l.started, LoopCount: l.mem.Iterations,
		MaxIterations: l.o.MaxIterations, MaxCallsPerHour: l.o.CallsPerHour, MaxTokensPerHour: l.o.TokensPerHour,
		Status: state.StatusRunning, LastAction: "run started", Phase: "starting",
		Agent: l.o.Agent, Model: l.o.Model, Usage: l.mem.Usage,
		Breaker: state.BreakerStatus{State: l.mem.Breaker.State, Reason: l.mem.Breaker.Reason}, LimitedUntil: maps.Clone(l.limits),
		Task: state.TaskStatus{ID: old.Task.ID, Title: old.Task.Title, Done: plan.Done, Total: plan.Total},
	})
	l.board.update(func(s *state.Status) { l.showCalls(s) })
	text := fmt.Sprintf("run %s: agent %s", l.d.RunID, l.o.Agent)
	if old.Status == state.StatusRunning || old.Status == state.StatusWaiting || old.Status == state.StatusPaused {
		text += fmt.Sprintf("; run %s before it was killed in iteration %d", old.RunID, old.LoopCount+1)
	}
	l.d.Log.Info("run started", logs.KeyRun, l.d.RunID, logs.KeyAgent, l.o.Agent)
	l.emit(state.Event{Kind: state.KindRunStart, Text: text, Model: l.o.Model})
	return l.board.save()
}

// close writes the last word of the run.
func (l *Loop) close(d rules.Decision) error {
	if l.board == nil {
		return nil
	}
	l.board.update(func(s *state.Status) {
		s.Status, s.ExitReason, s.ExitCode, s.Rule, s.Reason, s.Next = d.Status, d.ExitReason, d.Exit, d.Rule, d.Reason, d.Next
		s.LastAction, s.Phase, s.WakeAt, s.Pending = "run ended", "ended", d.Until, ""
		if d.Exit == rules.ExitTerminated {
			s.Pending = l.asked() // it was not answered: who goes on by itself after a reboot must know
		}
		s.Task.Done, s.Task.Total = l.it.After.Done, l.it.After.Total
		s.LimitedUntil = maps.Clone(l.limits)
	})
	l.keptTrail()
	if d.Exit == rules.ExitComplete { // what was idle on the way says nothing about the next plan
		b := l.mem.Breaker
		l.lost(l.d.State.SaveBreaker(state.Breaker{State: state.BreakerClosed, LastChange: b.LastChange, LastProgressLoop: b.LastProgressLoop, TotalOpens: b.TotalOpens}))
	}
	l.emit(state.Event{Kind: state.KindRunEnd, Text: d.Reason, Error: d.Exit != rules.ExitComplete, Usage: &l.mem.Usage,
		End: &state.End{Action: string(d.Action), Rule: d.Rule, Reason: d.Reason, Exit: d.Exit, Duration: time.Since(l.started), WakeAt: d.Until}})
	l.d.Log.Info("run ended", logs.KeyRun, l.d.RunID, logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "exit", d.Exit)
	l.lost(logs.Prune(l.d.State.LogsDir(), logsKept))
	return errors.Join(l.d.State.SaveSession(l.session), l.board.save(), l.events.Close(), l.live.Close())
}
