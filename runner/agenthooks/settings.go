// Package agenthooks answers the hooks that an agent CLI runs within a call: before and after a
// tool, and when the agent wants to stop. They are handed over with the call, and nothing is
// written into the user's settings.
//
//	Wanted + Facts  -> Settings        JSON for the CLI: which `ralph hook` it runs, and when
//	JSON on stdin + Facts -> Answer    what such a command says
//
// A command that cannot tell says nothing: then the CLI goes on as without it.
package agenthooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/runner/prompt"
	"ralph/runner/task/store"
	"ralph/state/option"
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

// Linter is the command line for sh that looks at a file; empty if there is none.
func Linter(lint, file string) string {
	quoted, err := syntax.Quote(file, syntax.LangPOSIX)
	switch {
	case lint == "" || err != nil:
		return ""
	case !strings.Contains(lint, "{file}"):
		return lint + " " + quoted
	}
	return strings.ReplaceAll(lint, "{file}", quoted)
}

// Wanted is what a user can say about these hooks.
type Wanted struct {
	HookStop         bool
	HookLint         string // command line; empty: none
	HookAutoApprove  bool
	MaxContinuations int
}

// CallHooks is true if there is anything to hand over.
func (o *Wanted) CallHooks() bool { return o.HookStop || o.HookLint != "" || o.HookAutoApprove }

// Options are the rows of the option table that fill o.
func (o *Wanted) Options() []option.Row {
	return []option.Row{{
		Group: "Hooks", Key: "HOOK_STOP", Flag: "hook-stop", YAML: "agent_hooks.stop",
		Kind: option.Bool, Default: "false", Field: &o.HookStop,
		Help: "Make Claude Code continue in the same call if it stops although the plan or its own report says " +
			"that the task is not finished.",
	}, {
		Group: "Hooks", Key: "MAX_CONTINUATIONS", Flag: "max-continuations", Arg: "N",
		YAML: "agent_hooks.max_continuations",
		Kind: option.Int, Default: "5", Min: "0", Max: "8", Field: &o.MaxContinuations,
		Help: "How often HOOK_STOP makes one call continue; 0 means never, and 8 is the most that Claude Code allows.",
	}, {
		Group: "Hooks", Key: "HOOK_LINT", Flag: "hook-lint", Arg: "CMD", YAML: "agent_hooks.lint",
		Kind: option.String, Trust: true, Field: &o.HookLint,
		Help: "Command that checks each file after Claude Code has edited it; " +
			"{file} is its path, and empty means none.",
	}, {
		Group: "Hooks", Key: "HOOK_AUTO_APPROVE", Flag: "hook-auto-approve", YAML: "agent_hooks.auto_approve",
		Kind: option.Bool, Default: "false", Trust: true, Safe: []string{"false"}, Field: &o.HookAutoApprove,
		Help: "Besides ALLOWED_TOOLS, allow Claude Code to run your checks and commands that only read; " +
			"refuse commands that destroy work.",
	}}
}
