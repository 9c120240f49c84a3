package runner

import (
	"fmt"
	"time"

	"ralph/runner/agent"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/state"
)

// Agent is a row of the agent table with the user's own program for it.
type Agent struct {
	Spec    agent.Spec
	Program []string // replaces the row's program; nil: the row's
}

// casting is who works on the next task.
type casting struct {
	agent Agent
	model string
	// instead is the agent that should work and is limited; empty: nobody.
	instead string
}

// candidates are the agents that may work on a task, the wanted one first.
func (l *Loop) candidates(c task.Choice) []string {
	names := []string{c.Agent}
	for _, name := range l.o.FallbackAgents {
		if name != c.Agent {
			names = append(names, name)
		}
	}
	return names
}

// cast chooses who works: the task's agent, else the plan's, else the
// option's; a fallback only while those before it are limited.
func (l *Loop) cast(list task.List, t task.Task, now time.Time) (casting, error) {
	choice := t.Choice.Or(list.Choice).Or(task.Choice{Agent: l.o.Agent, Model: l.o.Model})
	names := l.candidates(choice)
	cast := casting{model: choice.Model}
	name := names[0]
	if free, ok := l.free(names, now); ok && free != name {
		name, cast.instead, cast.model = free, name, ""
	}
	var err error
	cast.agent, err = l.d.Agents(name)
	return cast, err
}

// free is the first of the agents that is under no usage limit.
func (l *Loop) free(names []string, now time.Time) (string, bool) {
	for _, name := range names {
		if !now.Before(l.limits[name]) {
			return name, true
		}
	}
	return "", false
}

// freeAt is when the first of the agents is free; zero when one is now.
func (l *Loop) freeAt(names []string, now time.Time) time.Time {
	var first time.Time
	for _, name := range names {
		until := l.limits[name]
		if !now.Before(until) {
			return time.Time{}
		}
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// announceAgent says it whenever another agent than before works.
func (l *Loop) announceAgent(c casting) {
	name := c.agent.Spec.Name
	was := l.current.agent.Spec.Name
	l.current = c
	l.board.update(func(s *state.Status) {
		s.Agent, s.Model = name, c.model
	})
	if was == name || was == "" && c.instead == "" {
		return
	}
	text := "agent " + name
	if c.instead != "" {
		text += fmt.Sprintf(" instead of %s, which is limited until %s", c.instead, l.limits[c.instead].Local().Format("Jan 2 15:04"))
	}
	l.emit(state.Event{Kind: state.KindDecision, Text: text, End: &state.End{Action: string(rules.ActionContinue), Rule: "agent"}})
}
