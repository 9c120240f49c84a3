// Package runner is the run: it owns the plan and decides. A turn (package turn) does the work and reports. The loop is in
// loop.go.
//
// The decisions before and after a turn are pure (package rules). Each carries the name of the rule that matched, so that
// users always see why a run went on, waited or stopped.
package runner

import (
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agenthooks"
	"ralph/runner/crew"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/runner/inbox"
	"ralph/runner/ledger"
	"ralph/runner/memory"
	"ralph/runner/output"
	"ralph/runner/pool"
	"ralph/runner/reviewers"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/sandbox"
	"ralph/runner/session"
	"ralph/runner/slots"
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
	session.Continuity
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
	Window pace.HoursWindow
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
	host   string
	out    *output.Output
	inbox  *inbox.Inbox
	worker *turn.Worker
	counters
	books
	team
	last turn.Result // of the latest turn
	// uncommitted are files that no commit of this run took.
	uncommitted []state.Refusal
	past        past
	saved       ledger.BegunWrite // writes of what the latest turn has changed
	counted     ledger.BegunWrite // writes that count a call, before it is made; after those of saved
	analysis    ledger.LaterWrite // analysis.json of the latest turn
}

// counters are what the rules and limits count. A resumed run continues them.
type counters struct {
	mem     rules.Memory
	calls   state.Calls
	signals state.Signals
	session state.Session
	pool    pool.Pool
}

// books are what the run knows of its plan and its tasks.
type books struct {
	plan      ledger.PlanBook
	tasks     ledger.Records
	checks    turn.Checks
	notes     ledger.Notes
	learned   *memory.Book
	openItems ledger.OpenItems
	asked     ledger.Questions
}

// team holds the reviewers, the hooks and the turns under way.
type team struct {
	panel  *reviewers.Panel
	hooks  hooks.Set
	hooked string // the task that beforeTurn ran hooks for last
	crew   *crew.Crew
}

// past is what a run remembers of itself and of the run before.
type past struct {
	started     time.Time
	continues   string                   // the run before, if it did not complete; else empty
	unfinished  bool                     // the run before did not complete
	agent       string                   // who works, or worked last
	namedBy     string                   // what decided that, as in Status.AgentFrom
	paced       bool                     // because of PACE, it is not the wanted agent or model
	unproved    string                   // task of a killed call whose tick no check saw; empty: none
	decided     string                   // why the run continued after the latest turn
	warned      bool                     // the end was put off once, because its proof became weaker
	findings    int                      // number of findings of the audit
	printed     int64                    // raw output since the last pruning, in bytes
	lostState   bool                     // the state directory was damaged during the latest call
	numbered    int                      // the highest iteration that was under way when the run before was killed
	commit      hooks.Verdict            // of the hooks before the latest commit
	mergeVetoes map[string]hooks.Verdict // by task: verdicts of pre_merge hooks that refused its merge
}

// New prepares a run; nothing is written yet.
func New(o Options, d Deps) *Run {
	host, _ := os.Hostname() // only a label
	r := &Run{o: o, d: d, host: host, inbox: inbox.New()}
	r.tasks, r.plan = ledger.Records{}, ledger.NewPlanBook(d.Dir, d.Plan, o.PlanOptions)
	r.past.mergeVetoes = map[string]hooks.Verdict{}
	r.plan.File.Edits, r.plan.Log, r.learned = d.PlanEdits, d.Log, memory.Open(d.Dir, o.LessonOptions)
	r.pool = pool.Pool{Find: d.Agents, Fallbacks: o.FallbackAgents, Limits: map[string]time.Time{}}
	r.pool.Pace.Plan, _ = pace.Parse(o.Pace) // config has checked it
	r.hooks = hooks.Set{Hooks: d.Hooks, Dir: d.Dir, Plan: d.Plan, Env: d.Env, Filter: d.Filter, Sandbox: o.Contained,
		Kill: d.Kill, Responder: o.Responder(d.Agents)}
	r.worker = r.newWorker(d.Env)
	r.worker.Resize, r.worker.Begun = d.Resize, d.Begun
	r.crew = crew.InCheckout(r.worker, r.prefix)
	r.panel = &reviewers.Panel{Review: o.Review, Rows: o.JudgeRows, AIOS: o.AIOS.At(d.Dir), Dir: d.Dir, Env: d.Env,
		Filter: d.Filter, Sandbox: o.Contained, Idle: o.IdleTimeout,
		Pool: &r.pool, Model: o.Model, Log: d.Log, Size: d.Size, Kill: d.Kill}
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
	p := r.plan.Counts
	return Ending{Decision: d, RunID: r.d.RunID, Iterations: r.mem.Iterations, Usage: r.mem.Usage, Done: p.Done,
		Total: p.Total, Findings: r.past.findings, Report: r.last.Proof.Report,
		Uncommitted: r.uncommitted, Unproved: r.o.AutoCommit && r.last.Proof.Report.Blocked() &&
			r.last.Work.Change.Progress()}
}
