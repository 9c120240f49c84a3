package runner

import (
	"maps"
	"slices"
	"time"

	"ralph/runner/task"
	"ralph/state"
)

// crew knows who may work, and who is under a usage limit.
type crew struct {
	find      func(name string) (Agent, error)
	fallbacks []string
	limits    map[string]time.Time // ends of the usage limits that are known, by agent
	current   string               // who works, or worked last
}

// member is who works on the next task.
type member struct {
	agent Agent
	model string
	// instead is the agent that should work and is limited; empty: nobody.
	instead string
}

// candidates are the agents that may work when this one is wanted, in order.
func (c *crew) candidates(wanted string) []string {
	names := []string{wanted}
	for _, name := range c.fallbacks {
		if name != wanted {
			names = append(names, name)
		}
	}
	return names
}

// choose takes the wanted agent; a fallback only while those before it are limited.
func (c *crew) choose(wanted task.Choice, now time.Time) (member, error) {
	who := member{model: wanted.Model}
	name := wanted.Agent
	if free, ok := c.free(c.candidates(name), now); ok && free != name {
		name, who.instead, who.model = free, name, ""
	}
	var err error
	who.agent, err = c.find(name)
	return who, err
}

// free is the first of the agents that is under no usage limit.
func (c *crew) free(names []string, now time.Time) (string, bool) {
	i := slices.IndexFunc(names, func(name string) bool { return !now.Before(c.limits[name]) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// freeAt is when the first of the agents is free; zero when one is now.
func (c *crew) freeAt(names []string, now time.Time) time.Time {
	var first time.Time
	for _, name := range names {
		until := c.limits[name]
		if !now.Before(until) {
			return time.Time{}
		}
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// recallLimits takes over the usage limits that an earlier run met. A person who
// resumes a run that waits for all of its agents wants it to try.
func (r *Run) recallLimits(old state.Status) {
	maps.Copy(r.crew.limits, old.LimitedUntil)
	_, free := r.crew.free(r.crew.candidates(r.o.Agent), r.past.started)
	if r.d.Resumed && !r.d.Unattended && !free {
		clear(r.crew.limits)
	}
}

// takesOver says it whenever another agent than before works.
func (r *Run) takesOver(who member) {
	name, was := who.agent.Spec.Name, r.crew.current
	r.crew.current = name
	r.out.status(func(s *state.Status) { s.Agent, s.Model = name, who.model })
	if was == name || was == "" && who.instead == "" {
		return
	}
	change := state.AgentChange{Name: name, Model: who.model, Instead: who.instead}
	if who.instead != "" {
		change.Until = r.crew.limits[who.instead]
	}
	r.tell(change)
}
