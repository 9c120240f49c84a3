package rules

import (
	"fmt"
	"strings"

	"ralph/runner/agent/ending"
	"ralph/runner/audit"
	"ralph/runner/turn"
)

// Hints tell the agent what it can do better by itself in the next turn.
func Hints(r turn.Result, damaged []string) []string {
	var hints []string
	if hint := classHint(r.Call.Outcome.Class); hint != "" {
		hints = append(hints, hint)
	}
	if len(damaged) > 0 {
		hints = append(hints, "You deleted or emptied these files, which ralph needs: "+strings.Join(damaged, ", ")+
			". ralph restored them. Never remove or empty anything in .ralph/.")
	}
	for _, f := range r.Proof.Findings {
		hints = append(hints, "ralph found this in your work and shows it to the user: "+FindingText(f))
	}
	switch {
	case hasForeignTick(r.Proof.Findings) && r.Proof.Unearned:
		hints = append(hints, "ralph reopened the other tasks that you ticked: each gets an iteration of its own. "+
			"If the work is there already, check it then, and tick the task.")
	case r.Proof.Unearned || r.Proof.Warned:
		hints = append(hints, "ralph reopened your task so that you see this. Fix what is wrong. If the task asks for it, "+
			"leave it and say why in your final message. Then tick the task.")
	}
	for _, t := range r.Call.Denied {
		hints = append(hints, fmt.Sprintf("%s(%s) is not permitted here. Reach the goal with the tools that you have.", t.Name, t.Arg))
	}
	for _, t := range r.Call.Advised {
		hints = append(hints, fmt.Sprintf("The compound command %q was refused although its parts are permitted: run them one by one.", t.Arg))
	}
	return hints
}

func hasForeignTick(findings []audit.Finding) bool {
	for _, f := range findings {
		if f.Kind == audit.KindForeignTick {
			return true
		}
	}
	return false
}

// classHint is what the agent can do about an outcome; empty: nothing.
func classHint(c ending.Class) string {
	switch c {
	case ending.QuestionAsked:
		return "You asked a question. Nobody is there to answer: decide yourself, and write down the decision and its reason."
	case ending.TimeoutWithWork, ending.TimeoutIdle, ending.HangSilent:
		return "ralph ended the last call because it took too long. Work in smaller steps, commit early, and start nothing that does not end by itself."
	case ending.ContextTooLong:
		return "The last call ran out of context. Read less at once and do a smaller part of the task."
	case ending.MaxTurns, ending.MaxBudget:
		return "The last call used up its turns or its budget. Do a smaller part of the task."
	case ending.EmptyOutput, ending.NoFinalRecord:
		return "The last call ended without a final message. End with the status block."
	}
	return ""
}

// FindingText is a finding of the audit in one line.
func FindingText(f audit.Finding) string {
	if f.File == "" {
		return f.Text
	}
	return f.File + ": " + f.Text
}
