package runner

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/ledger"
	"ralph/runner/output"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/roles"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// maxInput bounds the user's prompt.
const maxInput = 16 << 20

// assignment returns the parts that every assignment of this run has in common.
func (r *Run) assignment(t task.Task) turn.Assignment {
	notes := r.tasks.Of(t.ID)
	a := turn.Assignment{
		V: turn.Version, Origin: r.origin(t), Dir: r.d.Dir, Task: t, Plan: r.plan.File,
		Agent:  turn.Agent{Filter: r.d.Filter},
		Checks: r.checks, Sandbox: r.o.Contained,
		Audit: turn.Audit{Answer: r.o.AntiCheat, Warned: r.past.warned},
		Known: turn.History{Worked: notes.Worked(), Linked: r.tasks.Linked(t.ID), Ticked: notes.Ticked,
			Refusals: notes.Refused, Tries: notes.Tries, Others: r.tasks.Others(t.ID), Changed: r.tasks.Changed(r.d.RunID, r.past.continues)},
	}
	if r.d.State != nil { // a preview writes nothing
		// These files are the user's. The run cannot continue without them.
		a.LogDir, a.Protect = r.d.State.RunDir(r.d.RunID), ledger.Within(r.d.State.Dir(), r.d.Prompt, r.d.Plan)
		if r.o.On() && !r.o.Locks() {
			a.State = r.d.State.Dir()
		}
	}
	r.crew.Place(nil, &a)
	return a
}

// origin marks the events of the next iteration.
func (r *Run) origin(t task.Task) state.Origin {
	role := roles.ByPhase(r.tasks.Of(t.ID).Review.Phase)
	o := state.Origin{Run: r.d.RunID, Host: r.host, Iteration: r.mem.Iterations + 1, Task: t.ID, Role: role.Name,
		Reviews: role.Reviews()}
	if t.ID != "" {
		o.Attempt = r.tasks.Of(t.ID).Attempts + 1
		if o.Reviews { // a review is of the latest attempt
			o.Attempt = max(o.Attempt-1, 1)
		}
	}
	if j := r.crew.Of(t.ID); j != nil {
		o.Iteration = j.Origin.Iteration
	}
	return o
}

// assign makes the assignment for the developer of a task, in the place of a job (nil: where the run itself is). It fails when a person has to
// fix something: the prompt is gone, or the plan names an agent that does not exist.
func (r *Run) assign(t task.Task, j *crew.Job) (turn.Assignment, pool.Choice, error) {
	plan := r.plan.Read()
	template, err := prompt.Read(r.d.Dir, r.d.Prompt, maxInput)
	if err != nil {
		return turn.Assignment{}, pool.Choice{}, fmt.Errorf("the prompt is gone: %w", err)
	}
	wanted := r.wanted(t, plan.List)
	r.past.namedBy = r.namedBy(t, plan.List)
	who, err := r.pool.Choose(wanted, time.Now())
	if err != nil {
		return turn.Assignment{}, pool.Choice{}, fmt.Errorf("task %q: %w", t.Title, err)
	}
	a := r.assignment(t)
	r.crew.Place(j, &a)
	a.Prompt = r.promptInput(r.panel.Template(string(template), t), plan, t)
	a.Agent.Spec, a.Agent.Program, a.Agent.Model = who.Agent.Spec, who.Agent.Program, who.Model
	a.Agent.AllowedTools, a.Agent.PermissionMode = r.o.AllowedTools, r.o.PermissionMode
	a.Agent.Settings = r.o.Wanted.Settings(r.d.Self, a.Plan, t.ID, a.Prompt)
	if !r.mem.Stale {
		a.Agent.Session = r.o.Resumable(r.session, who.Agent.Spec.Name)
	}
	a.Bounds = turn.Bounds{Timeout: r.timeout(), IdleTimeout: r.o.IdleTimeout}
	a.Checks.Everything = r.past.unfinished // nobody knows what the run before changed
	return a, who, nil
}

// wanted is the agent and model that should work on a task. The task decides first, then
// the plan, then what a person chose during this run, then the options.
func (r *Run) wanted(t task.Task, list task.List) task.Choice {
	option, _ := r.option()
	return pool.Wanted(t.Choice, list.Choice, option)
}

// option is the agent for a plan that names none. used is true when a person chose it during
// this run, with ralph agent use.
func (r *Run) option() (c task.Choice, used bool) {
	if r.d.State != nil {
		if use, ok := r.d.State.AgentUse(r.d.RunID); ok {
			if _, err := r.d.Agents(use.Agent); err == nil {
				return task.Choice{Agent: use.Agent, Model: use.Model}, true
			}
		}
	}
	return task.Choice{Agent: r.o.Agent, Model: r.o.Model}, false
}

// namedBy says what decides which agent works on a task.
func (r *Run) namedBy(t task.Task, list task.List) string {
	switch _, used := r.option(); {
	case t.Choice != (task.Choice{}):
		return "task"
	case list.Choice != (task.Choice{}):
		return "plan"
	case used:
		return "agent use"
	}
	return "options"
}

func (r *Run) promptInput(template string, plan turn.Plan, t task.Task) prompt.Input {
	past := r.tasks.Of(t.ID)
	in := prompt.Input{
		Attempt: past.Attempts + 1, MaxAttempts: past.Bound(r.o.MaxPerTask, r.o.MaxRetries), Past: past.Past,
		Template: template, Iteration: r.mem.Iterations + 1, MaxIterations: r.o.MaxIterations,
		Done: plan.Done, Total: plan.Total, Remaining: plan.Remaining,
		Answers: r.asked.Give(t.ID),
		Aside:   r.tasks.AsideTitles(plan.List), Last: r.notes.Last, Refused: r.notes.Refused,
		Feedback: r.notes.Feedback,
	}
	if from := r.origin(t); !from.Reviews && r.d.State != nil {
		in.Notes = r.notes.Give(from, t)
	}
	if r.notes.Task != t.ID { // another task came between
		in.Feedback = slices.Concat(in.Feedback, past.Feedback)
	} else {
		in.Feedback = slices.Concat(r.notes.Review, in.Feedback)
	}
	if now, ok := plan.List.Find(t.ID); ok {
		in.State = plan.List.Word(now)
	}
	in.Ticked = past.Ticked
	in.Mode, in.Lessons = string(r.checks.Mode), r.learned.For(t)
	for _, c := range r.checks.Rows {
		if c.Required() {
			in.Checks = append(in.Checks, prompt.Check{Name: c.Name, Command: logs.Redact(c.Reproduce())})
		}
	}
	if plan.Total > 0 {
		in.PlanPath = r.plan.File.Name
	}
	if t.Title != "" {
		in.Task, in.TaskFile, in.Marking = &t, r.plan.File.Of(plan.List, t), plan.List.Marking
	}
	return in
}

// announceAgent shows which agent works, and reports it when the agent or the reason changes.
func (r *Run) announceAgent(t task.Task, who pool.Choice) {
	name, was := who.Agent.Spec.Name, r.past.agent
	paced := who.Why != ""
	changed := paced != r.past.paced
	r.past.agent, r.past.paced = name, paced
	r.out.Status(func(s *state.Status) { s.Agent, s.Model, s.AgentFrom = name, who.Model, r.past.namedBy })
	if !changed && (was == name || was == "" && who.Instead == "") {
		return
	}
	if changed && !paced {
		who.Why = "PACE allows it again"
	}
	until := r.pool.Limits[who.Instead]
	if who.Why != "" || r.last.Agent == who.Instead && r.last.Call.Outcome.ResetsAt.IsZero() {
		until = time.Time{} // there is none, or it is a guess
	}
	r.tellOf(t, state.AgentChange{Name: name, Model: who.Model, Instead: who.Instead, Until: until, Why: who.Why})
}

// timeout is the longest that one call may take. It does not go beyond the end of the run.
func (r *Run) timeout() time.Duration {
	return min(r.o.Wall(), max(r.d.Window.Left(r.o.MaxDuration, r.past.started, time.Now()), time.Second))
}

// DryRun is what `--dry-run` shows of the first iteration.
type DryRun struct {
	Args    []string `json:"args"`              // the agent's argv
	Consent []string `json:"consent,omitempty"` // what a run needs the user's consent to; Preview leaves it empty
	Plan    string   `json:"plan,omitempty"`    // empty: there is none
	Done    int      `json:"done"`              // tasks of the plan
	Total   int      `json:"total"`
	Next    string   `json:"next,omitempty"` // title of the task; empty: none
	Prompt  string   `json:"prompt"`
}

// Preview says what the first iteration would do. It reads the project and
// writes nothing. known is what earlier runs remember of its tasks.
func Preview(o Options, d Deps, known ledger.Records) (DryRun, error) {
	r := New(o, d)
	r.tasks = known
	r.past.started = time.Now()
	r.checks = turn.Checks{Rows: d.Checks, Mode: d.Mode}
	plan := r.plan.Read()
	if plan.Error != "" {
		return DryRun{}, fmt.Errorf("%s", plan.Error)
	}
	next, _ := r.tasks.Choose(plan.List)
	a, _, err := r.assign(next, nil)
	if err != nil {
		return DryRun{}, err
	}
	request := a.Request(d.Env)
	return DryRun{Args: a.Agent.Spec.Command(request).Args, Prompt: request.Prompt, Plan: d.Plan,
		Done: plan.Done, Total: plan.Total, Next: next.Title}, nil
}

// count counts a call on disk before it is made. handleEvent waits for the write.
func (r *Run) count(a turn.Assignment) {
	r.calls = pace.ThisHour(r.calls, time.Now())
	r.calls.Calls++
	p := a.Prompt
	r.past.lostState = false
	r.pool.Pace.Begin(callKey(a.Origin), a.Agent.Spec.Name, a.Agent.Model)
	r.out.Status(func(s *state.Status) {
		s.Status, s.Phase = state.StatusRunning, state.PhaseAgent
		s.IterationStartedAt, s.LastTool, s.WakeAt, s.Rule, s.Reason = time.Now(), "", time.Time{}, "", ""
		s.Task = state.TaskStatus{ID: a.Task.ID, Title: a.Task.Title, Done: p.Done, Total: p.Total}
		s.EndsWhen = r.endsWhen(a.Task.ID)
		r.showCalls(s)
	})
	start := state.IterationStart{Title: a.Task.Title, Agent: a.Agent.Spec.Name, Model: a.Agent.Model, Done: p.Done,
		Total: p.Total}
	start.Why = output.WithoutTask(start, r.mem.Contradiction != "")
	r.tellOf(a.Task, start)
	if feedback := r.notes.Payload(a.Origin.Iteration, p); feedback != nil && !a.Origin.Reviews {
		r.tellOf(a.Task, feedback)
	}
	calls, saved := r.calls, r.saved
	r.saved = ledger.BegunWrite{}
	r.counted.Begin(func() error { return errors.Join(saved.Wait(), r.d.State.SaveCalls(calls)) }, r.out.Save)
}

func (r *Run) showCalls(s *state.Status) {
	s.CallsThisHour, s.TokensThisHour, s.NextReset = r.calls.Calls, r.calls.Tokens,
		pace.NextHour(pace.HourOf(time.Now()))
}

// started marks a task as begun, and returns the plan's word for its new state.
func (r *Run) started(t task.Task, word string) string {
	if r.mark(t.ID, task.Active) {
		t.State, t.Word = task.Active, ""
		word = r.plan.Read().List.Word(t)
	}
	return word
}

// callKey identifies a call among those under way.
func callKey(of state.Origin) string { return strconv.Itoa(of.Iteration) + "/" + of.Task }
