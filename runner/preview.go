package runner

import (
	"fmt"
	"os"
	"time"

	"ralph/runner/agent"
	"ralph/runner/prompt"
	"ralph/runner/rules"
)

// Dry is a run that is not made: what `--dry-run` shows.
type Dry struct {
	Args        []string // the agent's argv
	Prompt      string   // of the first iteration
	Done, Total int
	Next        string // title of the first task
}

// Preview tells what the first iteration would do. It reads the project and
// writes nothing.
func Preview(o rules.Options, d Deps) (Dry, error) {
	l := New(o, d)
	template, err := os.ReadFile(d.Prompt)
	if err != nil {
		return Dry{}, fmt.Errorf("read prompt: %w", err)
	}
	list, plan := l.loadPlan()
	if plan.Err != nil {
		return Dry{}, plan.Err
	}
	next, _ := l.choose(list)
	text := prompt.Build(l.promptInput(string(template), rules.Iteration{Number: 1, Task: next, Before: plan}))
	cast, err := l.cast(list, next, time.Now())
	if err != nil {
		return Dry{}, err
	}
	cmd := cast.agent.Spec.Command(l.request(cast, text, ""))
	return Dry{Args: cmd.Args, Prompt: text, Done: plan.Done, Total: plan.Total, Next: next.Title}, nil
}

// request is one agent call as the agent's row needs it.
func (l *Loop) request(c casting, text, session string) agent.Request {
	return agent.Request{
		Prompt: text, Model: c.model, AllowedTools: l.o.AllowedTools, PermissionMode: l.o.PermissionMode,
		Session: session, Program: c.agent.Program, Dir: l.d.Dir, Env: l.d.Env, Filter: l.d.Filter, Root: os.Geteuid() == 0,
	}
}
