// Package agenthooks answers the hooks that an agent CLI runs within a call: before and after a
// tool, and when the agent wants to stop. They are handed over with the call, and nothing is
// written into the user's settings.
//
//	Wanted + Facts  -> Settings        JSON for the CLI: which `ralph hook` it runs, and when
//	JSON on stdin + Facts -> Answer    what such a command says
//
// A command that cannot tell says nothing: then the CLI goes on as without it.
package agenthooks

import "ralph/state/option"

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
