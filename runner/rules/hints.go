package rules

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/runner/audit"
	"ralph/runner/turn"
)

// Hints tell the agent what it can do better by itself in the next turn.
func Hints(r turn.Result, damaged []string) []string {
	var hints []string
	if hint := outcomeHint(r.Call.Outcome); hint != "" && len(r.Call.Asks) == 0 {
		hints = append(hints, hint)
	}
	if len(damaged) > 0 {
		hints = append(hints, "You deleted or emptied these files, which ralph needs: "+strings.Join(damaged, ", ")+
			". ralph restored them. Never remove or empty anything in .ralph/.")
	}
	for _, f := range r.Proof.Findings {
		if f.Kind == audit.KindNotAudited {
			continue // nothing that the agent could do better
		}
		hints = append(hints, "ralph found this in your work and shows it to the user: "+FindingText(f))
	}
	foreign := slices.ContainsFunc(r.Proof.Findings, func(f audit.Finding) bool { return f.Kind == audit.KindForeignTick })
	switch {
	case foreign && r.Proof.Unearned:
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

// outcomeHint is what the agent can do about an outcome; empty: nothing.
func outcomeHint(o agent.Outcome) string {
	switch o.Class {
	case ending.Repeating:
		return "ralph ended the last call because it went in circles: " + o.Evidence + ". Do not do that again: find out why it does not " +
			"get you further, and take another way. If there is none, say so with STATUS: BLOCKED."
	case ending.QuestionAsked:
		return "You asked a question that goes to nobody: decide yourself, and write down the decision and its reason."
	case ending.TimeoutWithWork, ending.TimeoutIdle:
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

// LastError is what a person asks first about a run that crashed later: what went
// wrong in its latest turn. Empty: nothing did.
func LastError(r turn.Result) string {
	if r.Failed() {
		return withEvidence(r.Call.Outcome)
	}
	blocking := r.Proof.Report.Blocking()
	if len(blocking) == 0 {
		return ""
	}
	return fmt.Sprintf("the check %s failed: %s", blocking[0].Name, blocking[0].FirstLine())
}

// Summary tells the next iteration what this one did.
func Summary(res turn.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Iteration %d", res.Origin.Iteration)
	if res.Task.Title != "" {
		fmt.Fprintf(&b, " worked on %q", res.Task.Title)
	}
	fmt.Fprintf(&b, ": %s, files changed: %d, open tasks: %d, then %d.", res.Call.Outcome.Class, res.Work.Change.Count,
		res.Work.Before.Remaining, res.Proof.After.Remaining)
	if res.Call.Signal.Recommendation != "" {
		fmt.Fprintf(&b, " It recommended: %s", res.Call.Signal.Recommendation)
	} else if line, _, _ := strings.Cut(strings.TrimSpace(res.Call.Final), "\n"); line != "" {
		fmt.Fprintf(&b, " It said: %.300s", line)
	}
	return b.String()
}

// Attempt says in one line what a turn did for its task.
func Attempt(r turn.Result) string {
	parts := []string{string(r.Call.Outcome.Class)}
	if n := r.Work.Change.Count; n > 0 {
		changed := "changed " + termtext.Counted(n, "file", "files")
		if files := r.Work.Change.Files; n <= 4 && len(files) == n {
			changed = "changed " + strings.Join(files, ", ")
		}
		parts = append(parts, changed)
	} else {
		parts = append(parts, "changed nothing")
	}
	if names := blockingNames(r.Proof.Report); names != "" {
		parts = append(parts, "then these checks failed: "+names)
	}
	if said := r.Call.Signal.Recommendation; said != "" {
		parts = append(parts, fmt.Sprintf("recommended: %.200s", said))
	}
	return strings.Join(parts, ", ")
}
