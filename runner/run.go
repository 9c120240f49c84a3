// Package runner is the run: it owns the plan and decides. A turn (package turn) does the work and reports. The loop is in
// loop.go.
//
// The decisions before and after a turn are pure (package rules). Each carries the name of the rule that matched, so that
// users always see why a run went on, waited or stopped.
package runner

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/logs"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agenthooks"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/runner/ledger"
	"ralph/runner/memory"
	"ralph/runner/output"
	"ralph/runner/pool"
	"ralph/runner/receipt"
	"ralph/runner/reviewers"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/sandbox"
	"ralph/runner/slots"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/runner/turn/retest"
	"ralph/state"
)

// Options is what a user can say about a run; each part belongs to the package
// that reads it.
type Options struct {
	rules.Policy
	pool.CallOptions
	pool.Continuity
	gate.CheckOptions
	store.PlanOptions
	git.CommitOptions
	sandbox.Contained
	agenthooks.Wanted
	memory.LessonOptions
	slots.SlotOptions
	roles.Review
	AIOS      roles.AIOSOptions
	JudgeRows []roles.Reviewer
}

// Deps is what a run needs from its caller.
type Deps struct {
	Project
	Start
	Proof
	Terminal
	// Agents finds an agent by the name that an option, a plan or a task gives. The error
	// names those that exist.
	Agents func(name string) (pool.Agent, error)
	Self   string          // path of ralph, for the hooks of agents; empty: no hooks
	Env    []string        // of this process
	Filter agent.EnvFilter // which of Env agents and checks get
	Hooks  []hooks.Hook
	State  *state.Writer
	Log    hclog.Logger
	End    time.Time // when the run ends at the latest; zero: no bound
}

// Project is where a run works, and on what.
type Project struct {
	Dir    string
	Prompt string // path of the user's prompt
	Plan   string // path of the plan, empty for none
	// PlanEdits is the path of the record of changes that people made to the plan with ralph
	// task, out of reach of agents; empty: there is none.
	PlanEdits string
}

// Start is how a run begins.
type Start struct {
	RunID   string
	Version string    // of ralph
	Resumed bool      // continue the counters of the last run
	Begun   git.State // the start of the iteration that was cut off; zero: none was
	// Unattended is true when no person resumed the run. It then waits for the end of a known
	// usage limit first.
	Unattended bool
}

// Proof is what shows that work is done.
type Proof struct {
	Checks []gate.Check
	Mode   gate.Mode
	Detect bool // look for checks while the project has none
	// LeftOut has a line for each check that was detected and will not run.
	LeftOut []string
	// Elsewhere waits for the checks that other machines run on what has landed, and returns their results. It tells waits what
	// it waits for, when that changes. Nil: there are none.
	Elsewhere func(ctx context.Context, waits func(what string)) []gate.Result
	// Find returns the checks of dir, after these files have changed; nil: nobody looks.
	Find func(dir string, changed []string) []gate.Check
}

// Terminal is where a person sees the run and ends it.
type Terminal struct {
	// Show gets every event, from one goroutine at a time; nil: nothing is shown.
	Show func(state.Event)
	// Tick is called about once a second while the run waits; nil: never.
	Tick   func(left time.Duration, d rules.Decision)
	Size   ptyexec.Size
	Resize <-chan ptyexec.Size // nil: never
	Kill   <-chan struct{}     // closed: end the agent without any grace; nil: never
}

// Ending is how a run ended.
type Ending struct {
	Decision   rules.Decision
	RunID      string
	Iterations int
	Usage      state.Usage
	Done       int
	Total      int
	Findings   int         // of the audit
	Report     gate.Report // of the latest checks
	// Uncommitted are files that the run changed and did not commit, and why.
	Uncommitted []state.Refusal
	// Unproved is true if the work of the latest turn is not committed, because a check that must pass fails.
	Unproved bool
}

// Run is one run of the loop.
type Run struct {
	o      Options
	d      Deps
	ledger *ledger.Ledger
	out    *output.Output
	inbox  *inbox
	worker *turn.Worker // of the run itself
	crew   *crew.Crew
	panel  *reviewers.Panel
	hooks  hooks.Set
	shown  choice // who works, or worked last
	ends   string // why a hook, or claimed, the agent says that the run is complete, since the latest turn; empty: none does
	// claimed is true if the run is complete but for the checks elsewhere, without a plan.
	claimed bool

	receipts    *receipt.Signer // nil: none are written
	unreceipted bool            // it was said that one could not be written

	checkout git.DirtyFiles // changes in the user's checkout, as seen last; set only while jobs work in worktrees
}

// New prepares a run; nothing is written yet.
func New(o Options, d Deps) *Run {
	if o.Worktrees() {
		o.AutoCommit, o.Continue = false, false // work is committed as it lands, and no two turns share a folder
	}
	if p := o.Policy; d.Plan == "" && p.MaxIterations == 0 && p.MaxDuration == 0 && p.MaxCost == 0 && p.Until == "" {
		o.MaxIterations = rules.BoundWithoutPlan
	}
	l := &ledger.Ledger{RunID: d.RunID, Policy: o.Policy, Continue: o.Continue, Until: d.End, InWorktrees: o.Worktrees(),
		State: d.State, Log: d.Log, Tasks: ledger.Records{}, Plan: ledger.NewPlanBook(d.Dir, d.Plan, o.PlanOptions),
		Learned: memory.Open(d.Dir, o.LessonOptions),
		Pool:    pool.Pool{Find: d.Agents, Fallbacks: o.FallbackAgents, Limits: map[string]time.Time{}}}
	l.Host, _ = os.Hostname() // only a label
	l.Plan.File.Edits, l.Plan.Log = d.PlanEdits, d.Log
	l.Pool.Pace.Rules, _ = pace.Parse(o.Pace) // config has checked it
	r := &Run{o: o, d: d, ledger: l, inbox: newInbox()}
	r.hooks = hooks.Set{Hooks: d.Hooks, Dir: d.Dir, Plan: d.Plan, Env: d.Env, Filter: d.Filter, Sandbox: o.Contained,
		Kill: d.Kill, Responder: o.Responder(d.Agents)}
	r.worker = r.newWorker(d.Env)
	r.worker.Resize, r.worker.Begun = d.Resize, d.Begun
	l.Plan.Changed = r.worker.Forget
	r.crew = crew.InCheckout(r.worker, r.prefix)
	r.panel = &reviewers.Panel{Review: o.Review, Rows: o.JudgeRows, AIOS: o.AIOS.At(d.Dir), Dir: d.Dir, Env: d.Env,
		Filter: d.Filter, Sandbox: o.Contained, Idle: o.IdleTimeout,
		Pool: &l.Pool, Model: o.Model, Log: d.Log, Size: d.Size, Kill: d.Kill}
	l.FirstReview = func(t task.Task, n state.Reviewing) string { return r.panel.Plan(t, n).Next("") }
	return r
}

func (r *Run) newWorker(env []string) *turn.Worker {
	d := r.d
	shared := &turn.Shared{}
	if r.worker != nil {
		shared = r.worker.Shared
	}
	return &turn.Worker{Shared: shared, Env: env, Size: d.Size, Kill: d.Kill, Log: d.Log, Find: d.Find, Retest: retest.New(env)}
}

func (r *Run) ending(d rules.Decision) Ending {
	l := r.ledger
	return Ending{Decision: d, RunID: l.RunID, Iterations: l.Memory.Iterations, Usage: l.Memory.Usage,
		Done: l.Plan.Counts.Done, Total: l.Plan.Counts.Total, Findings: l.Findings, Report: l.Last.Proof.Report,
		Uncommitted: l.Uncommitted, Unproved: r.o.AutoCommit && l.Last.Proof.Report.Blocked() &&
			l.Last.Work.Change.Progress()}
}

// open reads what earlier runs left and announces the run.
func (r *Run) open() error {
	l, w := r.ledger, r.d.State
	old, err := l.Recall(r.d.Resumed, r.d.Resumed && !r.d.Unattended, r.o.Agent)
	if err != nil {
		return err
	}
	l.Items.LeftOut = r.d.LeftOut
	r.worker.Recall(l.Items.Gone())
	r.worker.UserChanges = git.OwnStore{Path: w.OwnPath(), Run: l.RunID, Continues: l.Unfinished}
	if old.Ending() == state.EndingKilled {
		r.worker.UserChanges.KilledRun, r.worker.UserChanges.KilledAt = old.RunID, old.Timestamp
	}
	resumed := ""
	if r.d.Resumed {
		resumed = l.RunID
	}
	out := &output.Output{State: w, Log: r.d.Log, Show: r.d.Show}
	if err := out.Open(resumed); err != nil {
		return err
	}
	r.out, l.Out = out, out
	r.hooks.Logs = w.RunDir(l.RunID)
	baseline, err := gate.ReadBaseline(filepath.Join(w.Dir(), gate.BaselineFile))
	if err != nil {
		r.d.Log.Warn("set aside", logs.KeyError, err)
	}
	if l.Unfinished {
		baseline.Adopt(l.RunID)
	}
	gate.Recount(baseline, r.d.Checks)
	l.Checks = turn.Checks{
		Rows: r.d.Checks, Mode: r.d.Mode, FailFast: r.o.FailFast, Scope: r.o.BaselineScope,
		Detect: r.d.Detect, Baseline: baseline,
	}
	return r.announceStart(old)
}

func (r *Run) announceStart(old state.Status) error {
	l := r.ledger
	plan := l.Plan.Read()
	l.Plan.Counts = plan
	r.out.Status(func(s *state.Status) {
		*s = state.Status{
			RunID: r.d.RunID, PID: os.Getpid(), StartedAt: l.Started,
			MaxIterations: r.o.MaxIterations, MaxCallsPerHour: r.o.CallsPerHour, MaxTokensPerHour: r.o.TokensPerHour,
			Status: state.StatusRunning, Phase: "starting",
			Agent: r.o.Agent, Model: r.o.Model, Accepted: l.Items.Accepted(),
			Task: state.TaskStatus{ID: old.Task.ID, Title: old.Task.Title, Done: plan.Done, Total: plan.Total},
		}
		l.Show(s)
		if l.Unfinished { // shown until this run meets another error
			s.LastError = old.LastError
		}
	})
	start := state.RunStart{Agent: r.o.Agent, Model: r.o.Model, Plan: l.Plan.File.Name, Prompt: l.Plan.Rel(r.d.Prompt),
		Version: r.d.Version, Resumed: r.d.Resumed, Done: plan.Done, Total: plan.Total}
	if r.o.Parallel > 1 {
		start.Parallel = r.o.Parallel
	}
	if old.Ending() == state.EndingKilled {
		start.Killed, start.KilledIteration, start.LastError = old.RunID, old.Iteration(), old.LastError
		for _, s := range old.Slots {
			start.KilledIteration = max(start.KilledIteration, s.Iteration)
		}
	}
	r.d.Log.Info("run started", logs.KeyRun, r.d.RunID, logs.KeyAgent, r.o.Agent)
	r.out.Event(state.NewEvent(state.Origin{Run: r.d.RunID, Host: l.Host}, time.Now(), start))
	return r.out.Save()
}

// close writes how the run ended, and closes its files.
func (r *Run) close(d rules.Decision) error {
	if r.out == nil {
		return nil
	}
	l := r.ledger
	plan, saved := l.Plan.Read(), l.Close(d.Exit == state.ExitComplete)
	r.out.Status(func(s *state.Status) {
		s.Status, s.ExitReason, s.ExitCode, s.Rule, s.Reason, s.Next = d.Status, d.ExitReason, d.Exit, d.Rule,
			d.Reason, d.Next
		s.Phase, s.WakeAt, s.Pending = "ended", d.Until, ""
		if d.Exit == state.ExitTerminated {
			s.Pending = r.inbox.Asked() // a run that resumes by itself after a reboot must still answer it
		}
		s.Task.Done, s.Task.Total = l.Plan.Counts.Done, l.Plan.Counts.Total
		s.LimitedUntil = maps.Clone(l.Pool.Limits)
		s.Proven, s.Unproven = d.Exit == state.ExitComplete && d.Unproven == "", d.Unproven
		s.Review = d.Review
		if s.Review == nil && d.Exit != state.ExitComplete {
			s.Review = l.Items.Items
		}
		if next, open := l.Tasks.Peek(plan.List); open && d.ExitReason != "interrupted" && d.ExitReason != "aborted" {
			s.Task.ID, s.Task.Title = next.ID, next.Title // an interrupted run continues with the same task
		}
	})
	end := state.RunEnd{Decision: ledger.DecisionOf(d), Exit: d.Exit, Seconds: time.Since(l.Started).Seconds(),
		Usage: l.Memory.Usage, Next: d.Next, Proven: d.Exit == state.ExitComplete && d.Unproven == "", Unproven: d.Unproven,
		Status: d.Status, Done: l.Plan.Counts.Done, Total: l.Plan.Counts.Total, Iterations: l.Memory.Iterations,
		NotBegun: l.Tasks.NotBegun(plan.List), Ticked: l.Tasks.Ticked(plan.List)}
	l.Tell(state.Origin{Run: r.d.RunID, Host: l.Host}, end)
	r.d.Log.Info("run ended", logs.KeyRun, r.d.RunID, logs.KeyRule, d.Rule, logs.KeyReason, d.Reason, "exit", d.Exit)
	return errors.Join(saved, r.out.Save(), r.out.Close())
}
