package runner

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ralph/logs"
	"ralph/runner/pool"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// maxInput bounds the user's prompt.
const maxInput = 16 << 20

// assignment is what every turn of this run has in common.
func (r *Run) assignment(t task.Task) turn.Assignment {
	notes := r.tasks.Of(t.ID)
	return turn.Assignment{
		V: turn.Version, Origin: r.origin(t), Dir: r.d.Dir, LogDir: r.logDir(), Task: t, Plan: r.plan.file,
		Agent:  turn.Agent{Filter: r.d.Filter},
		Checks: r.checks, Sandbox: r.o.Settings,
		Audit: turn.Audit{Answer: r.o.AntiCheat, Warned: r.past.warned},
		Known: turn.History{Worked: notes.Worked, Refusals: notes.Refusals, Tries: notes.Tries},
	}
}

func (r *Run) logDir() string {
	if r.d.State == nil {
		return "" // a preview writes nothing
	}
	return r.d.State.RunDir(r.d.RunID)
}

// origin marks the events of the next iteration.
func (r *Run) origin(t task.Task) state.Origin {
	o := state.Origin{Run: r.d.RunID, Host: r.host, Iteration: r.mem.Iterations + 1, Task: t.ID, Role: "developer"}
	if t.ID != "" {
		o.Attempt = r.tasks.Of(t.ID).Attempts + 1
	}
	return o
}

// assign makes the assignment for the developer of a task. The error is one for
// people: the prompt is gone, or the plan names an agent that does not exist.
func (r *Run) assign(t task.Task) (turn.Assignment, pool.Choice, error) {
	plan := r.plan.read()
	template, err := state.ReadFile(r.d.Prompt, maxInput)
	if err != nil {
		return turn.Assignment{}, pool.Choice{}, fmt.Errorf("the prompt is gone: %w", err)
	}
	wanted := r.wanted(t, plan.List)
	who, err := r.pool.Choose(wanted, time.Now())
	if err != nil {
		return turn.Assignment{}, pool.Choice{}, fmt.Errorf("task %q: %w", t.Title, err)
	}
	a := r.assignment(t)
	a.Prompt = r.promptInput(string(template), plan, t)
	a.Agent.Spec, a.Agent.Program, a.Agent.Model = who.Agent.Spec, who.Agent.Program, who.Model
	a.Agent.AllowedTools, a.Agent.PermissionMode = r.o.AllowedTools, r.o.PermissionMode
	a.Agent.Session = r.resumable(who.Agent.Spec.Name)
	a.Bounds = turn.Bounds{Timeout: r.timeout(), IdleTimeout: r.o.IdleTimeout}
	a.Checks.Everything = r.past.unfinished // what the run before changed is not known
	a.Protect = r.plan.protected(r.d)
	return a, who, nil
}

// wanted is who shall work on a task: the task decides, then the plan, then what a
// person chose during this run, then the options.
func (r *Run) wanted(t task.Task, list task.List) task.Choice {
	option := task.Choice{Agent: r.o.Agent, Model: r.o.Model}
	if r.d.State != nil {
		if use, ok := r.d.State.AgentUse(r.d.RunID); ok {
			if _, err := r.d.Agents(use.Agent); err == nil {
				option = task.Choice{Agent: use.Agent, Model: use.Model}
			}
		}
	}
	return pool.Wanted(t.Choice, list.Choice, option)
}

func (r *Run) promptInput(template string, plan turn.Plan, t task.Task) prompt.Input {
	past := r.tasks.Of(t.ID)
	in := prompt.Input{
		Attempt: past.Attempts + 1, MaxAttempts: past.Bound(r.o.MaxPerTask, r.o.MaxRetries), Past: past.Past,
		Template: template, Iteration: r.mem.Iterations + 1, MaxIterations: r.o.MaxIterations,
		Done: plan.Done, Total: plan.Total, Remaining: plan.Remaining,
		Aside: r.tasks.AsideTitles(plan.List), Last: r.notes.Last, Refused: r.notes.Refused, Feedback: r.notes.Feedback,
	}
	if r.notes.Task != t.ID { // another task came between
		in.Feedback = slices.Concat(in.Feedback, past.Feedback)
	}
	in.Mode = string(r.checks.Mode)
	for _, c := range r.checks.Rows {
		if c.Required() {
			in.Checks = append(in.Checks, prompt.Check{Name: c.Name, Command: logs.Redact(c.Reproduce())})
		}
	}
	if plan.Total > 0 {
		in.PlanPath = r.plan.file.Name
	}
	if t.Title != "" {
		in.Task = &t
	}
	return in
}

// takesOver says it whenever another agent than before works.
func (r *Run) takesOver(t task.Task, who pool.Choice) {
	name, was := who.Agent.Spec.Name, r.past.agent
	r.past.agent = name
	r.out.Status(func(s *state.Status) { s.Agent, s.Model = name, who.Model })
	if was == name || was == "" && who.Instead == "" {
		return
	}
	r.tellOf(t, state.AgentChange{Name: name, Model: who.Model, Instead: who.Instead, Until: r.pool.Limits[who.Instead]})
}

// timeout is the bound of one call; the run's own end is never passed.
func (r *Run) timeout() time.Duration {
	if r.o.MaxDuration > 0 {
		return min(r.o.Wall(), max(r.o.MaxDuration-time.Since(r.past.started), time.Second))
	}
	return r.o.Wall()
}

// resumable is the session to resume, zero for a fresh start. Only sessions that
// ralph itself began are ever resumed.
func (r *Run) resumable(agent string) turn.Session {
	s := r.session
	if !r.o.Continue || r.mem.Stale || s.Agent != agent || time.Since(s.LastUsed) > r.o.SessionExpiry {
		return turn.Session{}
	}
	return turn.Session{ID: s.SessionID, Counted: s.Counted}
}

// unusable ends the run because of something that a person has to fix.
func unusable(err error) rules.Decision {
	return rules.Decision{Action: rules.ActionStop, Rule: "plan_unusable", Reason: err.Error(), Exit: rules.ExitUsage,
		ExitReason: "plan_unusable", Status: state.StatusFailed, Next: "fix the prompt or the plan, then: ralph"}
}

// Dry is a run that is not made: what `--dry-run` shows.
type Dry struct {
	Args        []string // the agent's argv
	Prompt      string   // of the first iteration
	Done, Total int
	Next        string // title of the first task
}

// Preview says what the first iteration would do. It reads the project and
// writes nothing.
func Preview(o Options, d Deps) (Dry, error) {
	r := New(o, d)
	r.past.started = time.Now()
	r.checks = turn.Checks{Rows: d.Checks, Mode: d.Mode}
	plan := r.plan.read()
	if plan.Error != "" {
		return Dry{}, fmt.Errorf("%s", plan.Error)
	}
	next, _ := r.tasks.Choose(plan.List)
	a, _, err := r.assign(next)
	if err != nil {
		return Dry{}, err
	}
	request := a.Request(d.Env)
	return Dry{Args: a.Agent.Spec.Command(request).Args, Prompt: request.Prompt, Done: plan.Done, Total: plan.Total, Next: next.Title}, nil
}

// planBook is the run's view of the plan.
type planBook struct {
	dir    string // the project
	file   turn.PlanFile
	counts turn.Plan // that the latest turn, or the latest look, left
	had    bool      // it had tasks earlier in this run
}

// read is the plan as it is now.
func (p *planBook) read() turn.Plan {
	plan := turn.ReadPlan(p.file)
	p.had = p.had || plan.Total > 0
	return plan
}

// rel is a path as people know it: relative to the project when it is in it.
func (p *planBook) rel(path string) string {
	if r, err := filepath.Rel(p.dir, path); err == nil && filepath.IsLocal(r) {
		return filepath.ToSlash(r)
	}
	return path
}

// protected are the user's files inside .ralph/ that a run needs.
func (p *planBook) protected(d Deps) []string {
	if d.State == nil {
		return nil
	}
	var files []string
	for _, path := range []string{d.Prompt, d.Plan} {
		r, err := filepath.Rel(d.State.Dir(), path)
		if path != "" && err == nil && filepath.IsLocal(r) {
			files = append(files, path)
		}
	}
	return files
}
