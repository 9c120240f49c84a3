package rules

import (
	"fmt"
	"slices"
	"strings"

	"ralph/runner/agent"
	"ralph/runner/audit"
)

// The values of AntiCheat that do more than tell.
const (
	CheatRevert = "revert" // ticks without work are taken back
	CheatHalt   = "halt"   // the run ends
)

// Hints answers outcomes that the agent can do better about by itself.
func Hints(it Iteration) []string {
	var h []string
	switch it.Outcome.Class {
	case agent.ClassQuestionAsked:
		h = append(h, "You asked a question. Nobody is there to answer: decide yourself, and write the decision and its reason down.")
	case agent.ClassTimeoutWithWork, agent.ClassTimeoutIdle, agent.ClassHangSilent:
		h = append(h, "The last call was ended because it took too long. Work in smaller steps, commit early, and start nothing that does not end by itself.")
	case agent.ClassContextTooLong:
		h = append(h, "The last call ran out of context. Read less at once and do a smaller part of the task.")
	case agent.ClassMaxTurns, agent.ClassMaxBudget:
		h = append(h, "The last call used up its turns or its budget. Do a smaller part of the task.")
	case agent.ClassEmptyOutput, agent.ClassNoFinalRecord:
		h = append(h, "The last call ended without a final message. End with the status block.")
	}
	if len(it.Damaged) > 0 {
		h = append(h, "You deleted or emptied these files, which the loop needs: "+strings.Join(it.Damaged, ", ")+". They were restored. Never remove or empty anything in .ralph/.")
	}
	for _, f := range it.Findings {
		h = append(h, "Found in what you did, and shown to the user: "+FindingText(f))
	}
	foreign := func(f audit.Finding) bool { return f.Kind == audit.KindForeignTick }
	switch {
	case it.Reopened && slices.ContainsFunc(it.Findings, foreign):
		h = append(h, "Boxes of other tasks were opened again: each gets an iteration of its own. Where the work is there already, check it then, and tick the box.")
	case it.Reopened:
		h = append(h, "The box of your task was opened again, so that you see this. Put right what is wrong; where the task asks for it, leave it and say why in your final message. Then tick the box.")
	}
	for _, t := range it.Denied {
		h = append(h, fmt.Sprintf("%s(%s) is not permitted here. Reach the goal with the tools that you have.", t.Name, t.Arg))
	}
	for _, t := range it.Advised {
		h = append(h, fmt.Sprintf("The compound command %q was refused although its parts are permitted: run them one by one.", t.Arg))
	}
	return h
}

// FindingText is a finding of the audit in one line.
func FindingText(f audit.Finding) string {
	if f.File == "" {
		return f.Text
	}
	return f.File + ": " + f.Text
}
