package reviewers

import (
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/pool"
	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/state"
)

// FreeAt returns when no reviewer of the task's phase is under a usage limit any more; zero: now.
func (p *Panel) FreeAt(t task.Task, r state.Reviewing, author string, now time.Time) (until time.Time) {
	for _, reviewer := range p.Plan(t, r).Of(r.Phase) {
		who, _, err := p.who(reviewer, author)
		if at := p.Pool.Limits[who.Agent.Spec.Name]; err == nil && at.After(now) && at.After(until) {
			until = at
		}
	}
	return until
}

// who returns the agent to ask: the reviewer's own, else an installed and free one that is not the author's, else the
// author's. chosen is true if another one may replace it.
func (p *Panel) who(r roles.Reviewer, author string) (who pool.Choice, chosen bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Agent != "" {
		who.Model = r.Model
		who.Agent, err = p.Pool.Find(r.Agent)
		return who, false, err
	}
	now := time.Now()
	for _, spec := range agent.Specs() {
		if spec.Name == author || spec.Bin == "" || p.dead[spec.Name] || now.Before(p.Pool.Limits[spec.Name]) ||
			!p.installed(spec.Bin) {
			continue
		}
		who.Agent, err = p.Pool.Find(spec.Name)
		return who, true, err
	}
	who.Agent, err = p.Pool.Find(author)
	who.Model = p.Model
	if r.Model != "" {
		who.Model = r.Model
	}
	return who, false, err
}

func (p *Panel) exclude(name string, o agent.Outcome, unusable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead == nil {
		p.dead = map[string]bool{}
	}
	if p.dead[name] = unusable; !unusable {
		p.Pool.Limits[name] = pool.LimitEnd(o, 1, time.Now())
	}
}

// installed reports whether a program is on the agents' PATH.
func (p *Panel) installed(program string) bool {
	_, err := ptyexec.LookUp(ptyexec.Command{Args: []string{program}, Dir: p.Dir, Env: p.Env})
	return err == nil
}
