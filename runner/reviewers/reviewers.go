// Package reviewers carries out a phase of review: it shows reviewers what was done for a task,
// in a copy of the project, and takes their verdicts.
//
//	task + files before + files now --> case --> a turn for each reviewer --> Outcome
//
// It decides nothing about the run.
package reviewers

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/audit"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/sandbox"
	"ralph/runner/task"
	"ralph/runner/task/store"
	"ralph/runner/turn"
	"ralph/runner/turn/protect"
	"ralph/state"
)

// Panel asks reviewers. Its exported fields do not change during a run, but what they point to may: see
// Request.Exclusive.
type Panel struct {
	roles.Review
	Rows    []roles.Reviewer // of config.yaml
	AIOS    roles.AIOSProject
	Dir     string // the project
	Env     []string
	Filter  agent.EnvFilter
	Sandbox sandbox.Contained // of Dir
	Idle    time.Duration     // how long a reviewer may print nothing; 0: no limit
	Pool    *pool.Pool
	Model   string // of the author's agent, from the options
	Log     hclog.Logger
	Size    ptyexec.Size
	Kill    <-chan struct{}

	mu   sync.Mutex      // judges are asked side by side
	dead map[string]bool // agents that were chosen by default and cannot be used
}

// Request asks for one phase of review of one task.
type Request struct {
	From   state.Origin
	Task   task.Task
	Review state.Reviewing
	Story  roles.AIOSContext // for handoffs; Path is also the file of the task, relative to the project
	Plan   store.File
	// Changed returns what the run has changed in the plan since a moment, as protect.Own does; nil: nothing.
	Changed  protect.Own
	Dir      string   // where the work is: the project, or its worktree in a slot
	Env      []string // of programs in Dir
	Author   string   // its agent
	LogDir   string   // for prompts and raw output; empty: they are not kept
	Checks   []string // results of the latest checks, a line each
	Summary  string   // the author's final message
	Findings []string // open findings of the audit
	// Called is called before each call of an agent except the first.
	Called func() error
	Emit   func(state.Event)
	// Exclusive calls a function while nothing else of the run executes; nil: nothing else does anyway.
	Exclusive func(func())
}

// Role is the role that is asked.
func (s Request) Role() roles.Role { return roles.ByPhase(s.Review.Phase) }

// Result is the result of a phase.
type Result struct {
	roles.Outcome
	Usage state.Usage
	// Stuck is the turn of a reviewer whose call hit a limit or failed for another reason than its answer. Outcome is
	// then empty. nil: none did.
	Stuck *turn.Result
	Cut   state.Request // the request with which a person ended it
}

// Result turns the result of a phase into the Result of a turn, so that it can be recorded like any other. known has
// what the run knew when the phase began.
func (s Request) Result(res Result, known turn.Result) turn.Result {
	plan, by := known.Work.Before, known.Agent
	call := turn.Call{Made: true, Usage: res.Usage, Outcome: agent.Outcome{Class: ending.CompletedTurn}}
	if res.Stuck != nil {
		by, call = res.Stuck.Agent, turn.Closed(res.Stuck.Call)
	}
	return turn.Result{
		V: turn.Version, Origin: s.From, Task: s.Task, PlanName: known.PlanName, Agent: by, Cut: res.Cut, Call: call,
		Started: known.Started, Duration: time.Since(known.Started), Checks: known.Checks,
		Work:  turn.Work{Before: plan, AsAgentLeft: plan},
		Proof: turn.Proof{Tries: known.Proof.Tries, Report: known.Proof.Report, After: plan},
	}
}

// Plan returns the phases that a task goes through.
func (p *Panel) Plan(t task.Task, r state.Reviewing) roles.Plan {
	return p.For(roles.Asking{Task: t, Named: r.Judges, Rows: p.Rows, Project: p.AIOS.Asks(t)})
}

// Check returns an error for the user if a reviewer of the task names an agent that does not exist.
func (p *Panel) Check(t task.Task, r state.Reviewing) error {
	for _, r := range p.Plan(t, r).All() {
		if r.Agent == "" {
			continue
		}
		if _, err := p.Pool.Find(r.Agent); err != nil {
			return fmt.Errorf("task %q, review by %s: %w", t.Title, r.Name, err)
		}
	}
	return nil
}

// First returns the name of the agent that is asked first; empty: none can be asked.
func (p *Panel) First(s Request) string {
	for _, r := range p.Plan(s.Task, s.Review).Of(s.Review.Phase) {
		if who, _, err := p.who(r, s.Author); err == nil {
			return who.Agent.Spec.Name
		}
	}
	return ""
}

// Run asks the reviewers of the task's phase. An error is a failure of ralph itself.
func (p *Panel) Run(ctx context.Context, s Request) (Result, error) {
	ws, err := p.open(ctx, s)
	if err != nil {
		return Result{}, err
	}
	defer ws.close()
	reviewers := p.Plan(s.Task, s.Review).Of(s.Review.Phase)
	answers := make([]answer, len(reviewers))
	var wait sync.WaitGroup
	for i, r := range reviewers {
		wait.Go(func() {
			var events []state.Event // held back, so that those of several reviewers do not mix
			emit := func(e state.Event) { events = append(events, e) }
			if len(reviewers) == 1 {
				emit = s.Emit
			}
			answers[i] = p.ask(ctx, ws, r, emit)
			answers[i].events = events
		})
	}
	wait.Wait()
	return p.settle(ctx, s, ws, answers)
}

// answer is what one reviewer said.
type answer struct {
	verdict state.Verdict
	usage   state.Usage
	stuck   *turn.Result
	cut     state.Request
	events  []state.Event // not emitted yet
	err     error
}

func (p *Panel) settle(ctx context.Context, s Request, ws *workspace, answers []answer) (Result, error) {
	var res Result
	var all []state.Verdict
	var touched []audit.Finding
	var broken error
	ws.alone(func() {
		touched, broken = ws.plan.Settle(s.Changed, ws.tools.couldWrite)
	})
	for _, f := range touched {
		p.emit(s, state.Finding{Source: state.FoundByReview, Name: string(f.Kind), Task: f.Task, Doubt: true, Text: f.Text})
	}
	if broken != nil {
		return res, broken
	}
	changed, disturbed := ws.changed(ctx) // before anything is copied back
	back := p.putBack(context.WithoutCancel(ctx), ws, disturbed)
	for _, a := range answers {
		for _, e := range a.events {
			s.Emit(e)
		}
		res.Usage = res.Usage.Add(a.usage)
		if a.err != nil {
			return res, a.err
		}
		res.Cut = cmp.Or(res.Cut, a.cut)
		if a.stuck != nil && res.Stuck == nil {
			res.Stuck = a.stuck
		}
		if a.verdict.Changed = changed; p.reports(s) && ws.Copied && a.stuck == nil && a.cut == "" {
			a.verdict.Changed = p.keepReport(ws, changed, &a.verdict)
		}
		all = append(all, a.verdict)
	}
	if res.Stuck != nil || res.Cut != "" || ctx.Err() != nil {
		return res, nil
	}
	for _, v := range all {
		p.emit(s, v)
	}
	for _, file := range disturbed {
		p.emit(s, state.Finding{Source: state.FoundByReview, Task: s.Task.ID, File: file, Doubt: true,
			Text: "it changed during the review, and no reviewer may change it" + back[file]})
	}
	if res.Outcome = roles.Settle(all); p.reports(s) {
		answer := roles.AIOSHandoff{From: "qa"}
		if !res.Passed {
			answer.To, answer.Next, answer.Blockers = "dev", "fix what the review found", res.Refusals()
		}
		p.handOff(ctx, s, answer)
	}
	return res, nil
}

func (p *Panel) emit(s Request, payload state.Payload) {
	s.Emit(state.NewEvent(s.From, time.Now(), turn.Redacted(payload)))
}

// ask asks one reviewer, and asks again if its answer cannot be read.
func (p *Panel) ask(ctx context.Context, ws *workspace, r roles.Reviewer, emit func(state.Event)) (a answer) {
	started := time.Now()
	if r.RequireEvidence && len(ws.Evidence) == 0 {
		a.verdict = r.Without("there is no evidence; leave files that show the result in " + ws.evidence)
		return a
	}
	why := ""
	for try := range 2 {
		nonce := rand.Text()
		question := ws.Question(ws.request.Review.Phase, r, nonce)
		if try > 0 {
			question = roles.AskAgain(question, why)
		}
		res, who, err := p.call(ctx, ws, call{r, question, try}, emit)
		a.usage = a.usage.Add(res.Call.Usage)
		if a.err = err; err != nil {
			return a
		}
		if a.cut = res.Cut; a.cut != "" || ctx.Err() != nil {
			return a
		}
		if stuck(res) {
			a.stuck = &res
			return a
		}
		a.verdict, err = r.Read(res.Call.Final, nonce, ws.Findings)
		if o := res.Call.Outcome; !o.Class.Success() {
			err = fmt.Errorf("the call failed: %s", o.Reason)
			a.verdict = r.Silent(err.Error())
		}
		a.verdict.Agent, a.verdict.Model, a.verdict.Usage = who.Agent.Spec.Name, who.Model, a.usage
		a.verdict.Seconds = time.Since(started).Seconds()
		if err == nil {
			return a
		}
		why = err.Error()
	}
	return a
}

// stuck is true for a call that failed without an answer of the reviewer.
func stuck(res turn.Result) bool {
	c := res.Call.Outcome.Class
	return res.Call.NotStarted != "" || rules.IsLimit(c) || c.Transient() || c.Fatal()
}

// call is one call to a reviewer.
type call struct {
	roles.Reviewer
	question string
	try      int
}

// call makes a call. An agent that was chosen by default and cannot be used is replaced.
func (p *Panel) call(ctx context.Context, ws *workspace, c call, emit func(state.Event)) (turn.Result, pool.Choice,
	error) {
	for {
		var who pool.Choice
		var chosen bool
		var err error
		ws.alone(func() { who, chosen, err = p.who(c.Reviewer, ws.request.Author) })
		if err != nil {
			return turn.Result{}, who, fmt.Errorf("review by %s: %w", c.Name, err)
		}
		if err := ws.called(); err != nil {
			return turn.Result{}, who, err
		}
		w := &turn.Worker{Env: slices.Concat(ws.request.Env,
			[]string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(ws.dir)}), Size: p.Size, Kill: p.Kill, Log: p.Log}
		tools := ws.tools.begin()
		res, err := w.Run(ctx, p.assignment(ws, c, who), func(e state.Event) {
			tools.See(e.Data)
			emit(e)
		})
		w.Close()
		tools.End()
		if err != nil && ctx.Err() == nil {
			return res, who, err
		}
		o := res.Call.Outcome
		unusable := res.Call.NotStarted != "" || o.Class.Fatal()
		if !chosen || !unusable && !rules.IsLimit(o.Class) || ctx.Err() != nil {
			return res, who, nil
		}
		ws.alone(func() { p.exclude(who.Agent.Spec.Name, o, unusable) })
		emit(state.NewEvent(ws.request.From, time.Now(),
			turn.Redacted(state.Finding{Source: state.FoundByReview, Doubt: true,
				Text: fmt.Sprintf("%s cannot review now (%s%s); asking another agent", who.Agent.Spec.Name, o.Reason,
					res.Call.NotStarted)})))
	}
}

func (p *Panel) assignment(ws *workspace, c call, who pool.Choice) turn.Assignment {
	s := ws.request
	logs := s.LogDir
	if logs != "" && (!s.Role().Single() || c.try > 0) {
		logs = filepath.Join(logs, fmt.Sprintf("%d-%s-%d", s.From.Iteration, slug(c.Name), c.try+1))
	}
	a := turn.Assignment{
		V: turn.Version, Origin: s.From, Part: turn.Ask, Dir: ws.dir, LogDir: logs, Task: s.Task,
		Prompt: prompt.Input{Template: c.question, Verbatim: true},
		Agent: turn.Agent{Spec: who.Agent.Spec, Program: who.Agent.Program, Model: who.Model,
			PermissionMode: agent.PermitReadOnly,
			Filter:         p.Filter},
		Sandbox: ws.box,
		Bounds:  turn.Bounds{Timeout: c.Bound(), IdleTimeout: p.Idle},
	}
	if p.reports(s) && ws.Copied {
		letWrite(&a)
	}
	return a
}

// slug turns a name into a part of a file name.
func slug(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(name))
}
