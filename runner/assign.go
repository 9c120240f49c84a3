package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/crew"
	"ralph/runner/ledger"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// addLimits sets when the first of the agents that may work on the task is free of limits.
func (r *Run) addLimits(f *rules.Admission, t task.Task) {
	wanted, _ := r.wanted(t, f.Plan.List)
	pool := &r.ledger.Pool
	f.LimitedUntil, f.Paced = pool.FreeAt(pool.Candidates(wanted.Agent), f.Now), pool.PaceHold(wanted, f.Now)
	if n := r.ledger.Tasks.Of(t.ID).Review; n.Phase != "" && (r.crew.InWorktrees() || !n.Kept) {
		f.LimitedUntil = r.panel.FreeAt(t, n, wanted.Agent, f.Now)
	}
}

// wanted is the agent and model that should work on a task, and what says so. The task decides first, then
// the plan, then what a person chose during this run with ralph agent use, then the options.
func (r *Run) wanted(t task.Task, list task.List) (c task.Choice, by string) {
	last, by := task.Choice{Agent: r.o.Agent, Model: r.o.Model}, "options"
	if r.d.State != nil {
		if use, ok := r.d.State.AgentUse(r.d.RunID); ok {
			if _, err := r.d.Agents(use.Agent); err == nil {
				last, by = task.Choice{Agent: use.Agent, Model: use.Model}, "agent use"
			}
		}
	}
	if list.Choice != (task.Choice{}) {
		by = "plan"
	}
	if t.Choice != (task.Choice{}) {
		by = "task"
	}
	return pool.Wanted(t.Choice, list.Choice, last), by
}

// maxInput bounds the user's prompt.
const maxInput = 16 << 20

// choice is who works on a task, and what decided that.
type choice struct {
	pool.Choice
	by string // as in Status.AgentFrom
}

// assign makes the assignment for the developer of a task. It fails when a person has to fix something: the prompt is
// gone, or the plan names an agent that does not exist.
func (r *Run) assign(j *crew.Job) (a turn.Assignment, who choice, err error) {
	l, t := r.ledger, j.Task
	plan := l.Plan.Read()
	template, err := prompt.Read(r.d.Dir, r.d.Prompt, maxInput)
	if err != nil {
		return a, who, fmt.Errorf("the prompt is gone: %w", err)
	}
	wanted, by := r.wanted(t, plan.List)
	who.by = by
	if who.Choice, err = l.Pool.Choose(wanted, time.Now()); err != nil {
		return a, who, fmt.Errorf("task %q: %w", t.Title, err)
	}
	a = r.assignment(t, j.Origin, j)
	a.Prompt = r.promptInput(j, r.panel.Template(string(template), t), plan)
	a.Agent.Spec, a.Agent.Program, a.Agent.Model = who.Agent.Spec, who.Agent.Program, who.Model
	a.Agent.AllowedTools, a.Agent.PermissionMode = r.o.AllowedTools, r.o.PermissionMode
	a.Agent.Settings = r.o.Wanted.Settings(r.d.Self, a.Plan, t.ID, a.Prompt)
	if !l.Memory.Stale {
		a.Agent.Session = r.o.Resumable(l.Session, who.Agent.Spec.Name)
	}
	// A call does not go on beyond the end of the run.
	left := max(pace.Left(r.o.MaxDuration, l.Started, l.Until, time.Now()), time.Second)
	a.Bounds = turn.Bounds{Timeout: min(r.o.Wall(), left), IdleTimeout: r.o.IdleTimeout}
	a.Checks.Everything = l.Unfinished // nobody knows what the run before changed
	return a, who, nil
}

// assignment returns the parts that every assignment has in common, in the place of a job; nil: in that of the run itself.
func (r *Run) assignment(t task.Task, from state.Origin, j *crew.Job) turn.Assignment {
	l := r.ledger
	n := l.Tasks.Of(t.ID)
	a := turn.Assignment{
		V: turn.Version, Origin: from, Dir: r.d.Dir, Task: t, Plan: l.Plan.File,
		Agent:  turn.Agent{Filter: r.d.Filter},
		Checks: l.Checks, Sandbox: r.o.Contained,
		Audit: turn.Audit{Answer: r.o.AntiCheat, Warned: l.Warned},
		Known: turn.History{Worked: n.Worked(), Linked: l.Tasks.Linked(t.ID), Ticked: n.Ticked, Refusals: n.Refused,
			Tries: n.Tries, Others: l.Tasks.Others(t.ID), Changed: l.Tasks.Changed(l.RunID, l.Continues)},
	}
	if r.d.State != nil { // a preview writes nothing
		// These files are the user's. The run cannot continue without them.
		a.LogDir, a.Protect = r.d.State.RunDir(l.RunID), ledger.Within(r.d.State.Dir(), r.d.Prompt, r.d.Plan)
		if r.o.On() && !r.o.Locks() {
			a.State = r.d.State.Dir()
		}
	}
	r.crew.Place(j, &a)
	return a
}

func (r *Run) promptInput(j *crew.Job, template string, plan turn.Plan) prompt.Input {
	l, t, past := r.ledger, j.Task, j.Record
	in := prompt.Input{
		Attempt: past.Attempts + 1, MaxAttempts: past.Bound(r.o.MaxPerTask, r.o.MaxRetries), Past: past.Past,
		Template: template, Iteration: l.Memory.Iterations + 1, MaxIterations: r.o.MaxIterations,
		Done: plan.Done, Total: plan.Total, Remaining: plan.Remaining,
		Answers: l.Asked.Give(t.ID),
		Aside:   l.Tasks.AsideTitles(plan.List), Last: l.Notes.Last, Refused: l.Notes.Refused,
		Feedback: l.Notes.Feedback,
	}
	if r.d.State != nil {
		in.Notes = l.Notes.Give(j.Origin, t)
	}
	if l.Notes.Task != t.ID { // another task came between
		if l.InWorktrees && l.Notes.Task != "" { // whose files are elsewhere
			in.Refused, in.Feedback = "", l.Tasks.NotAbout(l.Notes.Task, in.Feedback)
		}
		in.Feedback = slices.Concat(in.Feedback, past.Feedback)
	} else {
		in.Feedback = slices.Concat(l.Notes.Review, in.Feedback)
	}
	if now, ok := plan.List.Find(t.ID); ok {
		in.State = plan.List.Word(now)
	}
	in.Ticked = past.Ticked
	in.Mode, in.Lessons, in.Learn = string(l.Checks.Mode), l.Learned.For(t), l.Learned.On()
	in.AIOS = plan.List.Format == modeAIOS
	for _, c := range l.Checks.Rows {
		if c.Required() {
			in.Checks = append(in.Checks, prompt.Check{Name: c.Name, Command: logs.Redact(c.Reproduce())})
		}
	}
	if plan.Total > 0 {
		in.PlanPath = l.Plan.File.Name
	}
	if t.Title != "" {
		in.Task, in.TaskFile, in.Marking = &t, l.Plan.File.Of(plan.List, t), plan.List.Marking
	}
	return in
}

// announceAgent shows which agent works, and reports it when the agent or the reason changes.
func (r *Run) announceAgent(j *crew.Job, who choice) {
	was := r.shown
	r.shown = who
	name, paced := who.Agent.Spec.Name, who.Why != ""
	r.out.Status(func(s *state.Status) { s.Agent, s.Model, s.AgentFrom = name, who.Model, who.by })
	before := was.Agent.Spec.Name
	changed := paced != (was.Why != "")
	if !changed && (before == name || before == "" && who.Instead == "") {
		return
	}
	if changed && !paced {
		who.Why = "PACE allows it again"
	}
	l := r.ledger
	until := l.Pool.Limits[who.Instead]
	if who.Why != "" || l.Last.Agent == who.Instead && l.Last.Call.Outcome.ResetsAt.IsZero() {
		until = time.Time{} // there is none, or it is a guess
	}
	l.Tell(j.Origin, state.AgentChange{Name: name, Model: who.Model, Instead: who.Instead, Until: until, Why: who.Why})
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
	l := r.ledger
	l.Tasks, l.Started = known, time.Now()
	l.Checks = turn.Checks{Rows: d.Checks, Mode: d.Mode}
	plan := l.Plan.Read()
	if plan.Error != "" {
		return DryRun{}, errors.New(plan.Error)
	}
	next, _ := l.Tasks.Choose(plan.List)
	a, _, err := r.assign(&crew.Job{Task: next, Record: l.Tasks.Of(next.ID), Origin: l.Origin(next)})
	if err != nil {
		return DryRun{}, err
	}
	request := a.Request(d.Env)
	return DryRun{Args: a.Agent.Spec.Command(request).Args, Prompt: request.Prompt, Plan: d.Plan,
		Done: plan.Done, Total: plan.Total, Next: next.Title}, nil
}
