// Package pool knows which agents may work, and which are under a usage limit.
package pool

import (
	"maps"
	"slices"
	"time"

	"ralph/runner/agent"
	"ralph/runner/hooks"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
)

// Agent is a row of the agent table with the user's own program for it.
type Agent struct {
	Spec    agent.Spec
	Program []string // replaces the row's program; nil: the row's
}

// Pool chooses agents. Limits may be changed by its owner.
type Pool struct {
	Find      func(name string) (Agent, error) // the error names those that exist
	Fallbacks []string                         // who works while the wanted agent is limited, in order
	Limits    map[string]time.Time             // ends of the usage limits that are known, by agent
	Pace      pace.Book
}

// Choice is who works on a task.
type Choice struct {
	Agent Agent
	Model string
	// Instead is the agent that should work and is limited; empty: nobody.
	Instead string
	Why     string // it works instead, if no usage limit is the reason
}

// Wanted is who shall work: the first choice, and for what it leaves open the
// next. Names become those of the agents' rows.
func Wanted(choices ...task.Choice) (c task.Choice) {
	for _, next := range choices {
		if spec, err := agent.Find(next.Agent); err == nil {
			next.Agent = spec.Name
		}
		c = c.Or(next)
	}
	return c
}

// Candidates are the agents that may work when this one is wanted, in order.
func (p *Pool) Candidates(wanted string) []string {
	names := []string{wanted}
	for _, name := range p.Fallbacks {
		if name != wanted {
			names = append(names, name)
		}
	}
	return names
}

// Candidate is the agent for one of several attempts side by side: the wanted agent makes the first,
// its fallbacks the next ones, and then it begins again.
func (p *Pool) Candidate(wanted task.Choice, n int) task.Choice {
	names := p.Candidates(wanted.Agent)
	if name := names[n%len(names)]; name != wanted.Agent {
		return task.Choice{Agent: name} // another vendor does not have the model
	}
	return wanted
}

// Choose takes the wanted agent; a fallback only while those before it are limited or held back.
func (p *Pool) Choose(wanted task.Choice, now time.Time) (Choice, error) {
	c, hold := p.pick(wanted, now)
	name := wanted.Agent
	switch {
	case hold.Held(): // a person wants it to work all the same
		c = Choice{Model: wanted.Model}
	case c.Instead != "":
		name, c.Instead = c.Instead, name
	}
	var err error
	c.Agent, err = p.Find(name)
	return c, err
}

// Paced is what holds back all agents that are under no limit; the zero Hold: one may work, or all are limited.
func (p *Pool) Paced(wanted task.Choice, now time.Time) pace.Hold {
	_, hold := p.pick(wanted, now)
	return hold
}

// pick finds who may work: the model, and the agent in Instead if it is not the wanted
// one. The Hold is the one that ends first when none may for the sake of PACE.
func (p *Pool) pick(wanted task.Choice, now time.Time) (c Choice, first pace.Hold) {
	names, why := p.Candidates(wanted.Agent), ""
	for i, name := range names {
		if now.Before(p.Limits[name]) {
			continue
		}
		c = Choice{Model: wanted.Model, Why: why}
		if i > 0 {
			c.Model, c.Instead = "", name // another vendor does not have the model
		}
		hold := p.Pace.Hold(name, c.Model, now)
		if !hold.Held() {
			return c, pace.Hold{}
		}
		if cheaper := p.Pace.Plan.Model; i == 0 && cheaper != "" && !p.Pace.Hold(name, cheaper, now).Held() {
			return Choice{Model: cheaper, Why: hold.Reason}, pace.Hold{}
		}
		if why == "" {
			why = hold.Reason
		}
		if !first.Held() || hold.Until.Before(first.Until) {
			first = hold
		}
	}
	if first.Held() {
		for _, name := range names { // one that leaves its limit before that may work then
			if until := p.Limits[name]; now.Before(until) && until.Before(first.Until) {
				first.Until = until
			}
		}
	}
	return Choice{Model: wanted.Model}, first
}

// WorkNow ends what a person who resumes the run does not want to wait for.
func (p *Pool) WorkNow(limited, paced bool, until time.Time) {
	if limited {
		clear(p.Limits)
	}
	if paced {
		p.Pace.Waived = until
	}
}

// Free is the first of the agents that is under no usage limit; false: all are.
func (p *Pool) Free(names []string, now time.Time) (string, bool) {
	i := slices.IndexFunc(names, func(name string) bool { return !now.Before(p.Limits[name]) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// FreeAt is when the first of the agents is free; zero when one is now.
func (p *Pool) FreeAt(names []string, now time.Time) time.Time {
	if _, free := p.Free(names, now); free || len(names) == 0 {
		return time.Time{}
	}
	until := func(name string) time.Time { return p.Limits[name] }
	first := until(names[0])
	for _, name := range names[1:] {
		if until(name).Before(first) {
			first = until(name)
		}
	}
	return first
}

// Recall takes over the limits that an earlier run met. try forgets them if nobody may work who
// is free: a person who resumes a run that waits wants it to try.
func (p *Pool) Recall(limits map[string]time.Time, wanted string, try bool) {
	if p.Limits == nil {
		p.Limits = map[string]time.Time{}
	}
	maps.Copy(p.Limits, limits)
	if _, free := p.Free(p.Candidates(wanted), time.Now()); try && !free {
		clear(p.Limits)
	}
}

// Asked is who answers the prompts of hooks.
func (o CallOptions) Asked(find func(name string) (Agent, error)) hooks.Asked {
	return hooks.Asked{
		Find: func(name string) (agent.Spec, []string, error) {
			a, err := find(name)
			return a.Spec, a.Program, err
		},
		Agent: o.Agent, Model: o.Model, AllowedTools: o.AllowedTools, PermissionMode: o.PermissionMode,
	}
}
