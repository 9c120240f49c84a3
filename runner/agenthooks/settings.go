package agenthooks

import (
	"encoding/json"
	"fmt"

	"mvdan.cc/sh/v3/syntax"

	"ralph/runner/prompt"
	"ralph/runner/task/store"
)

// The events of a call that a hook can answer: the names of the verbs below `ralph hook`.
const (
	Stop        = "stop"
	PostToolUse = "post-tool-use"
	PreToolUse  = "pre-tool-use"
)

// Facts are what the commands of one call have to know.
type Facts struct {
	Plan   store.File `json:"plan,omitzero"`
	Task   string     `json:"task,omitempty"`   // its id; empty if there is none
	Checks []string   `json:"checks,omitempty"` // command lines of the required checks
	Mode   string     `json:"mode,omitempty"`   // see TEST_MODE
	Most   int        `json:"most,omitempty"`   // continuations of the call
	Lint   string     `json:"lint,omitempty"`   // see Wanted.HookLint
}

// seconds bounds the commands. Those that read answer in milliseconds.
const (
	seconds     = 10
	lintSeconds = 60
)

// Settings is what the CLI gets for a call about a task, as JSON; empty: nothing. self is
// the path of ralph; empty: it cannot be run.
func (o *Wanted) Settings(self string, plan store.File, task string, in prompt.Input) string {
	if !o.CallHooks() || self == "" {
		return ""
	}
	plan.Edits = "" // not for agents
	f := Facts{Plan: plan, Task: task, Most: o.MaxContinuations, Lint: o.HookLint, Mode: in.Mode}
	for _, c := range in.Checks {
		f.Checks = append(f.Checks, c.Command)
	}
	facts, _ := json.Marshal(f) // plain values: it cannot fail
	events := map[string]any{}
	for _, r := range []struct {
		event, matcher, verb string
		timeout              int
		on                   bool
	}{
		{"Stop", "*", Stop, seconds, o.HookStop && o.MaxContinuations > 0},
		{"PostToolUse", "Edit|Write|MultiEdit|NotebookEdit", PostToolUse, lintSeconds, o.HookLint != ""},
		{"PreToolUse", "Bash|Write|Edit|MultiEdit|NotebookEdit|AskUserQuestion", PreToolUse, seconds, o.HookAutoApprove},
	} {
		if line, ok := shellLine(self, "hook", r.verb, "--facts", string(facts)); r.on && ok {
			command := map[string]any{"type": "command", "command": line, "timeout": r.timeout}
			events[r.event] = []any{map[string]any{"matcher": r.matcher, "hooks": []any{command}}}
		}
	}
	if len(events) == 0 {
		return ""
	}
	settings, _ := json.Marshal(map[string]any{"hooks": events}) // plain values: it cannot fail
	return string(settings)
}

// shellLine quotes words for sh.
func shellLine(words ...string) (line string, ok bool) {
	for i, word := range words {
		quoted, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil {
			return "", false // a zero byte
		}
		if i > 0 {
			line += " "
		}
		line += quoted
	}
	return line, true
}

// ReadFacts reads what Settings has put into a command line.
func ReadFacts(text string) (f Facts, err error) {
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return f, fmt.Errorf("read the facts of the call: %w", err)
	}
	return f, nil
}
