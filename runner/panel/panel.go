// Package panel carries out a phase of review: it shows reviewers what was done for a task,
// in a copy of the project, and takes their verdicts.
//
//	task + files before + files now --> case --> a turn for each reviewer --> Outcome
//
// It decides nothing about the run.
package panel

import (
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
	"ralph/runner/agent/argv"
	"ralph/runner/agent/ending"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/roles"
	"ralph/runner/roles/aios"
	"ralph/runner/rules"
	"ralph/runner/sandbox"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Panel asks reviewers. Its exported fields do not change during a run, but what they point to may: see Sitting.Alone.
type Panel struct {
	roles.Review
	Rows    []roles.Reviewer // of config.yaml
	AIOS    aios.Project
	Dir     string // the project
	Env     []string
	Filter  agent.EnvFilter
	Sandbox sandbox.Contained // of Dir
	Idle    time.Duration     // silence of a reviewer; 0: no bound
	Pool    *pool.Pool
	Model   string // of the author's agent, by the options
	Log     hclog.Logger
	Size    ptyexec.Size
	Kill    <-chan struct{}

	mu   sync.Mutex      // judges are asked side by side
	dead map[string]bool // agents that were chosen by default and cannot be used
}

// Sitting is one phase of one task.
type Sitting struct {
	From     state.Origin
	Task     task.Task
	Review   state.Reviewing
	Story    aios.Context // for handoffs; Path is also the file of the task, relative to the project
	Plan     string       // path of the plan
	Dir      string       // where the work is: the project, or its worktree in a slot
	Env      []string     // of programs there
	Author   string       // its agent
	LogDir   string       // for prompts and raw output
	Checks   []string     // what the latest checks said, a line each
	Findings []string     // of the audit, that are open; of an analyst: what was asked
	Said     []string     // around what was asked
	// Called is told before each call but the first.
	Called func() error
	Emit   func(state.Event)
	// Alone runs a function while nothing else of the run does; nil: nothing else does anyway.
	Alone func(func())
}

// Result is what came of it.
type Result struct {
	roles.Outcome
	Usage state.Usage
	// Stuck is the turn of a reviewer whose call met a limit, or failed for a reason that is
	// not its answer; nil: none did. Then there is no outcome.
	Stuck *turn.Result
	Cut   state.Request // a person ended it
}

// Result makes the Result of a turn from what is known of the run, so that it can be recorded
// like any other.
func (s Sitting) Result(sat Result, known turn.Result) turn.Result {
	known.V, known.Origin, known.Task, known.Cut, known.Duration = turn.Version, s.From, s.Task, sat.Cut, time.Since(known.Started)
	known.Work.Left, known.Proof.After = known.Work.Before, known.Work.Before
	if sat.Stuck != nil {
		known.Agent, known.Call = sat.Stuck.Agent, sat.Stuck.Call
		known.Call.Session = turn.Session{} // nobody resumes it
		return known
	}
	known.Call = turn.Call{Made: true, Usage: sat.Usage}
	known.Call.Outcome.Class = ending.CompletedTurn
	return known
}

// Plan says which phases a task goes through.
func (p *Panel) Plan(t task.Task, r state.Reviewing) roles.Plan {
	who := p.Review
	who.QA = who.QA || p.AIOS.Asks(t)
	return who.For(t, r.Judges, p.Rows)
}

// Check finds a reviewer of a task who is an agent that does not exist. The error is one for people.
func (p *Panel) Check(t task.Task, r state.Reviewing) error {
	who := p.Plan(t, r)
	for _, r := range slices.Concat(who.QA, who.Judges) {
		if r.Agent == "" {
			continue
		}
		if _, err := p.Pool.Find(r.Agent); err != nil {
			return fmt.Errorf("task %q, review by %s: %w", t.Title, r.Name, err)
		}
	}
	return nil
}

// First is the agent that is asked first, for people.
func (p *Panel) First(s Sitting) string {
	for _, r := range p.Plan(s.Task, s.Review).Of(s.Review.Phase) {
		if who, _, err := p.who(r, s.Author); err == nil {
			return who.Agent.Spec.Name
		}
	}
	return ""
}

// Hold asks those who look at the task in its phase. The error is ralph's own.
func (p *Panel) Hold(ctx context.Context, s Sitting) (Result, error) {
	room, err := p.open(ctx, s)
	if err != nil {
		return Result{}, err
	}
	defer room.close()
	reviewers := p.Plan(s.Task, s.Review).Of(s.Review.Phase)
	answers := make([]answer, len(reviewers))
	if p.JudgesFailFast || len(reviewers) == 1 {
		for i, r := range reviewers {
			answers[i] = p.ask(ctx, room, r, s.Emit)
			if !answers[i].verdict.Passes() && !r.Optional {
				answers = answers[:i+1]
				break
			}
		}
	} else {
		var wait sync.WaitGroup
		for i, r := range reviewers {
			wait.Go(func() { // their words would mix
				answers[i] = p.ask(ctx, room, r, func(e state.Event) {
					answers[i].events = append(answers[i].events,
						e)
				})
			})
		}
		wait.Wait()
	}
	return p.settle(ctx, s, room, answers)
}

// answer is what one reviewer said.
type answer struct {
	verdict state.Verdict
	usage   state.Usage
	stuck   *turn.Result
	cut     state.Request
	events  []state.Event // that were held back
	err     error
}

func (p *Panel) settle(ctx context.Context, s Sitting, room *room, answers []answer) (Result, error) {
	var res Result
	var all []state.Verdict
	changed, disturbed := room.changed(ctx) // before anything is taken over
	back := p.putBack(context.WithoutCancel(ctx), room, disturbed)
	for _, a := range answers {
		for _, e := range a.events {
			s.Emit(e)
		}
		res.Usage = res.Usage.Add(a.usage)
		if a.err != nil {
			return res, a.err
		}
		if res.Cut == "" {
			res.Cut = a.cut
		}
		if a.stuck != nil && res.Stuck == nil {
			res.Stuck = a.stuck
		}
		if a.verdict.Changed = changed; p.reports(s) && room.Copied && a.stuck == nil && a.cut == "" {
			a.verdict.Changed = p.take(room, changed, &a.verdict)
		}
		all = append(all, a.verdict)
	}
	if res.Stuck != nil || res.Cut != "" || ctx.Err() != nil {
		return res, nil
	}
	for _, v := range all {
		p.tell(s, v)
	}
	for _, file := range disturbed {
		p.tell(s, state.Finding{Source: state.FoundByReview, Task: s.Task.ID, File: file, Doubt: true,
			Text: "it changed while the task was reviewed, and no reviewer may write it" + back[file]})
	}
	if res.Outcome = roles.Settle(all); p.reports(s) {
		answer := aios.Handoff{From: "qa"}
		if !res.Passed {
			answer.To, answer.Next, answer.Blockers = "dev", "fix what the review found", res.Refusals()
		}
		p.handOff(ctx, s, answer)
	}
	return res, nil
}

func (p *Panel) tell(s Sitting, payload state.Payload) {
	s.Emit(state.NewEvent(s.From, time.Now(), turn.Redacted(payload)))
}

// ask asks one reviewer, a second time if its answer cannot be read.
func (p *Panel) ask(ctx context.Context, room *room, r roles.Reviewer, emit func(state.Event)) (a answer) {
	started := time.Now()
	if r.RequireEvidence && len(room.Evidence) == 0 {
		a.verdict = r.Without("there is no evidence; leave files that show the result in " + room.evidence)
		return a
	}
	why := ""
	for try := range 2 {
		nonce := rand.Text()
		question := room.Question(room.sitting.Review.Phase, r, nonce)
		if try > 0 {
			question = roles.AskAgain(question, why)
		}
		res, who, err := p.call(ctx, room, call{r, question, try}, emit)
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
		a.verdict, err = r.Read(res.Call.Final, nonce, room.Findings)
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

// stuck is true for a call that says nothing about the reviewer's mind.
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
func (p *Panel) call(ctx context.Context, room *room, c call, emit func(state.Event)) (turn.Result, pool.Choice,
	error) {
	for {
		var who pool.Choice
		var chosen bool
		var err error
		room.alone(func() { who, chosen, err = p.who(c.Reviewer, room.sitting.Author) })
		if err != nil {
			return turn.Result{}, who, fmt.Errorf("review by %s: %w", c.Name, err)
		}
		if err := room.called(); err != nil {
			return turn.Result{}, who, err
		}
		w := &turn.Worker{Env: slices.Concat(room.sitting.Env,
			[]string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(room.dir)}), Size: p.Size, Kill: p.Kill, Log: p.Log}
		tools := room.hands.of()
		res, err := w.Run(ctx, p.assignment(room, c, who), func(e state.Event) {
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
		room.alone(func() { p.exclude(who.Agent.Spec.Name, o, unusable) })
		emit(state.NewEvent(room.sitting.From, time.Now(),
			turn.Redacted(state.Finding{Source: state.FoundByReview, Doubt: true,
				Text: fmt.Sprintf("%s cannot review now (%s%s); another agent is asked", who.Agent.Spec.Name, o.Reason,
					res.Call.NotStarted)})))
	}
}

func (p *Panel) assignment(room *room, c call, who pool.Choice) turn.Assignment {
	s := room.sitting
	logs := s.LogDir
	if logs != "" && (s.Review.Phase != roles.PhaseQA || c.try > 0) {
		logs = filepath.Join(logs, fmt.Sprintf("%d-%s-%d", s.From.Iteration, slug(c.Name), c.try+1))
	}
	a := turn.Assignment{
		V: turn.Version, Origin: s.From, Part: turn.Ask, Dir: room.dir, LogDir: logs, Task: s.Task,
		Prompt: prompt.Input{Template: c.question, Verbatim: true},
		Agent: turn.Agent{Spec: who.Agent.Spec, Program: who.Agent.Program, Model: who.Model,
			PermissionMode: argv.PermitReadOnly,
			Filter:         p.Filter},
		Sandbox: room.box,
		Bounds:  turn.Bounds{Timeout: c.Bound(), IdleTimeout: p.Idle},
	}
	if p.reports(s) && room.Copied {
		letWrite(&a)
	}
	return a
}

// slug is a name as part of a file name.
func slug(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(name))
}
