// Package pool knows which agents may work, and which are under a usage limit.
package pool

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/hooks"
	"ralph/runner/rules/pace"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/option"
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
	Limits    map[string]time.Time             // ends of known usage limits, by agent
	Pace      pace.Book
}

// Choice says who works on a task.
type Choice struct {
	Agent Agent
	Model string
	// Instead is the wanted agent if another one works because it is limited; empty: the wanted agent works.
	Instead string
	Why     string // why another agent or model works, if not because of a usage limit
}

// Wanted returns who should work: the first choice, with what it leaves open filled in from the
// next ones. Names become those of the agents' rows.
func Wanted(choices ...task.Choice) (c task.Choice) {
	for _, next := range choices {
		if next.Agent != "" { // a plan may have very many tasks that name none
			if spec, err := agent.Find(next.Agent); err == nil {
				next.Agent = spec.Name
			}
		}
		c = c.Or(next)
	}
	return c
}

// Candidates returns the agents that may work if this one is wanted, in order.
func (p *Pool) Candidates(wanted string) []string {
	others := slices.DeleteFunc(slices.Clone(p.Fallbacks), func(name string) bool { return name == wanted })
	return slices.Insert(others, 0, wanted)
}

// Choose returns the wanted agent, or a fallback while those before it are limited or held back.
func (p *Pool) Choose(wanted task.Choice, now time.Time) (Choice, error) {
	c, hold := p.pick(wanted, now)
	name := wanted.Agent
	switch {
	case hold.Held(): // a person wants it to work anyway
		c = Choice{Model: wanted.Model}
	case c.Instead != "":
		name, c.Instead = c.Instead, name
	}
	var err error
	c.Agent, err = p.Find(name)
	return c, err
}

// PaceHold returns what holds back all agents that are under no limit; the zero Hold: one may work, or all are limited.
func (p *Pool) PaceHold(wanted task.Choice, now time.Time) pace.Hold {
	_, hold := p.pick(wanted, now)
	return hold
}

// pick finds who may work: the model, and in Instead the agent if it is not the wanted
// one. If PACE holds back all of them, first is the Hold that ends first.
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
		why = cmp.Or(why, hold.Reason)
		if !first.Held() || hold.Until.Before(first.Until) {
			first = hold
		}
	}
	if first.Held() {
		for _, name := range names { // an agent may work as soon as its limit ends
			if until := p.Limits[name]; now.Before(until) && until.Before(first.Until) {
				first.Until = until
			}
		}
	}
	return Choice{Model: wanted.Model}, first
}

// WorkNow ends the waits that a person has ended by resuming the run.
func (p *Pool) WorkNow(limited, paced bool, until time.Time) {
	if limited {
		clear(p.Limits)
	}
	if paced {
		p.Pace.Waived = until
	}
}

// Free returns the first of the agents that is under no usage limit; false: all are.
func (p *Pool) Free(names []string, now time.Time) (string, bool) {
	i := slices.IndexFunc(names, func(name string) bool { return !now.Before(p.Limits[name]) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// FreeAt returns when the first of the agents is free; zero: one is free now.
func (p *Pool) FreeAt(names []string, now time.Time) time.Time {
	if _, free := p.Free(names, now); free || len(names) == 0 {
		return time.Time{}
	}
	return p.Limits[slices.MinFunc(names, func(a, b string) int { return p.Limits[a].Compare(p.Limits[b]) })]
}

// Recall takes over the limits of an earlier run. With try, it forgets them if no candidate is free: a person who
// resumes a waiting run wants it to try.
func (p *Pool) Recall(limits map[string]time.Time, wanted string, try bool) {
	if p.Limits == nil {
		p.Limits = map[string]time.Time{}
	}
	maps.Copy(p.Limits, limits)
	if _, free := p.Free(p.Candidates(wanted), time.Now()); try && !free {
		clear(p.Limits)
	}
}

// Responder returns who answers the prompts of hooks.
func (o CallOptions) Responder(find func(name string) (Agent, error)) hooks.Responder {
	return hooks.Responder{
		Find: func(name string) (agent.Spec, []string, error) {
			a, err := find(name)
			return a.Spec, a.Program, err
		},
		Agent: o.Agent, Model: o.Model, AllowedTools: o.AllowedTools, PermissionMode: o.PermissionMode,
	}
}

const (
	// LimitMargin is added to a reset time: vendors' clocks are not ours.
	LimitMargin = 5 * time.Second
	// limitPause is the shortest time between two calls that meet a limit.
	limitPause = time.Minute
	// limitUnknown is the first wait when no reset time was given.
	limitUnknown = 15 * time.Minute
)

// Met records a usage limit that a call of an agent met. limits is the number of such calls in a row.
func (p *Pool) Met(name string, o agent.Outcome, limits int, now time.Time) {
	if _, met := p.Limits[name]; !met { // the refusals so far were those of another agent
		limits = 1
	}
	p.Limits[name] = LimitEnd(o, limits, now)
}

// LimitEnd is when to try again: the reset plus a margin, and never less than
// a minute after a try that was refused again. Without a reset time the waits
// grow from a quarter of an hour to an hour.
func LimitEnd(o agent.Outcome, limits int, now time.Time) time.Time {
	if o.ResetsAt.IsZero() {
		return now.Add(min(limitUnknown*time.Duration(max(limits, 1)), time.Hour))
	}
	until := o.ResetsAt.Add(LimitMargin)
	least := now.Add(LimitMargin)
	if limits > 1 {
		least = now.Add(min(limitPause<<min(limits-2, 5), 30*time.Minute))
	}
	if until.Before(least) {
		return least
	}
	return until
}

// Continuity is what a user can say about sessions.
type Continuity struct {
	Continue      bool // resume ralph's own agent session
	SessionExpiry time.Duration
}

// Options returns the rows of the option table that fill c.
func (c *Continuity) Options() []option.Row {
	return []option.Row{{
		Group: "Session", Key: "SESSION_CONTINUITY", Aliases: []string{"CLAUDE_USE_CONTINUE"},
		Flag: "continue", NoFlag: "no-continue", YAML: "session.continue",
		Kind: option.Bool, Default: "false", Field: &c.Continue,
		Help: "Resume the agent session of the last iteration instead of starting with fresh context.",
	}, {
		Group: "Session", Key: "SESSION_EXPIRY_HOURS", Flag: "session-expiry", Arg: "H", YAML: "session.expiry",
		Kind: option.Hours, Default: "24", Min: "1", Max: "8760", Field: &c.SessionExpiry,
		Help: "Hours after which a session is no longer resumed.",
	}}
}

// SessionAfter is the session after a turn; changed is false when it stays the same.
func SessionAfter(s state.Session, res turn.Result) (next state.Session, changed bool) {
	now, class, of := time.Now(), res.Call.Outcome.Class, res.Call.Session
	switch {
	case class == ending.StaleSession || class == ending.ContextTooLong || class == ending.Repeating:
		return state.Session{Agent: res.Agent, ResetAt: now, ResetReason: string(class)}, true
	case of.ID == "":
		return s, false
	case res.Failed() && class != ending.TimeoutWithWork:
		if of.ID != s.SessionID {
			return s, false
		}
		s.Counted = of.Counted // or the next call would count it again
		return s, true
	case s.SessionID != of.ID:
		s = state.Session{Agent: res.Agent, SessionID: of.ID, CreatedAt: now}
	}
	s.LastUsed, s.Counted = now, of.Counted
	return s, true
}

// Resumable is the session for the next call of an agent, zero for a fresh start. Only
// sessions that ralph itself began are ever resumed.
func (c *Continuity) Resumable(s state.Session, agent string) turn.Session {
	if !c.Continue || s.Agent != agent || time.Since(s.LastUsed) > c.SessionExpiry {
		return turn.Session{}
	}
	return turn.Session{ID: s.SessionID, Counted: s.Counted}
}
