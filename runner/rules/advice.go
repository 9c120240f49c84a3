package rules

// This file says what can be done about the end of an agent call: by the agent, and by a person.

import (
	"fmt"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
)

// AgentHint is what the agent can do about an outcome; empty: nothing.
func AgentHint(o agent.Outcome) string {
	switch o.Class {
	case ending.Repeating:
		return "ralph ended the last call because it went in circles: " + o.Evidence +
			". Do not do that again: find out why it does not " +
			"get you further, and take another way. If there is none, say so with STATUS: BLOCKED."
	case ending.QuestionAsked:
		return "You asked a question that goes to nobody: decide yourself, and write down the decision and its reason."
	case ending.TimeoutWithWork, ending.TimeoutIdle:
		return "ralph ended the last call because it took too long. Work in smaller steps, commit early, " +
			"and start nothing that does not end by itself."
	case ending.ContextTooLong:
		return "The last call ran out of context. Read less at once and do a smaller part of the task."
	case ending.MaxTurns, ending.MaxBudget:
		return "The last call used up its turns or its budget. Do a smaller part of the task."
	case ending.EmptyOutput, ending.NoFinalRecord:
		return "The last call ended without a final message. End with the status block."
	}
	return ""
}

// remedyFor is what a person can do about an agent that cannot be used. withheld names
// the variables that ralph did not pass on to it.
func remedyFor(o agent.Outcome, name string, withheld []string) string {
	do := map[ending.Class]string{
		ending.Auth:            "log in with " + name + " itself, or set its key",
		ending.NoCredit:        "look at the account of " + name,
		ending.DisabledByAdmin: "ask the administrator of the account",
		ending.BadModel:        "choose another model with --model",
		ending.BadFlag:         "update " + name + "; ralph --dry-run shows the command line",
	}[o.Class]
	if o.Class == ending.Auth && len(withheld) > 0 {
		do += fmt.Sprintf("; ralph withheld %s from it; let the one that it needs pass, such as ENV_EXCLUDE='!%s'",
			termtext.Some(withheld, 5), withheld[0])
	}
	return fmt.Sprintf("%s; check with: ralph doctor --live --agent %s; then: ralph resume", do, name)
}

// moreTime is the flag that gives a call more time, if it had too little; its value is the person's.
func moreTime(o agent.Outcome) string {
	switch o.Class {
	case ending.TimeoutWithWork:
		return " --timeout MINUTES"
	case ending.TimeoutIdle, ending.HangSilent:
		return " --idle-timeout MINUTES"
	}
	return ""
}

// seenIn is the reason with the agent's own words, shortened, if it does not quote them yet.
func seenIn(o agent.Outcome) string {
	seen := termtext.Unwrap(ending.Shown(o.Evidence))
	if seen == "" || strings.Contains(o.Reason, seen) {
		return o.Reason
	}
	return fmt.Sprintf("%s (%.200s)", o.Reason, seen)
}
