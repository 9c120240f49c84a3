package ledger

import (
	"fmt"
	"slices"
	"strings"

	"ralph/runner/audit"
	"ralph/runner/rules"
	"ralph/runner/turn"
)

// HintsFor returns what the agent should do better in the next turn.
func HintsFor(r turn.Result, damaged []string) []string {
	var hints []string
	if hint := rules.AgentHint(r.Call.Outcome); hint != "" && len(r.Call.Asks) == 0 {
		hints = append(hints, hint)
	}
	if len(damaged) > 0 {
		hints = append(hints, "You deleted or emptied these files, which ralph needs: "+strings.Join(damaged, ", ")+
			". ralph restored them. Never remove or empty anything in .ralph/.")
	}
	for _, f := range r.Proof.Findings {
		if f.Kind == audit.KindNotAudited {
			continue // the agent cannot change that
		}
		hints = append(hints, "ralph found this in your work and shows it to the user: "+rules.FindingText(f))
	}
	own := func(o turn.Reopen) bool { return o.Task == r.Task.ID }
	if r.Proof.Warned || r.Proof.Unearned && slices.ContainsFunc(r.Proof.Reopen, own) {
		hints = append(hints,
			"ralph reopened your task so that you see this. Fix what is wrong. If the task asks for it, "+
				"leave it and say why in your final message. Then tick the task.")
	}
	for _, t := range r.Call.Denied {
		hints = append(hints, fmt.Sprintf("%s(%s) is not permitted here. Reach the goal with the tools that you have.",
			t.Name, t.Arg))
	}
	for _, t := range r.Call.Advised {
		hints = append(hints, fmt.Sprintf("The compound command %q was refused although its parts are permitted: "+
			"run them one by one.", t.Arg))
	}
	return hints
}

// summaryOf returns what an iteration did, for the prompt of the next one.
func summaryOf(res turn.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Iteration %d", res.Origin.Iteration)
	if res.Task.Title != "" {
		fmt.Fprintf(&b, " worked on %q", res.Task.Title)
	}
	fmt.Fprintf(&b, ": %s, files changed: %d, open tasks: %d before, %d after.", res.Call.Outcome.Class,
		res.Work.Change.Count, res.Work.Before.Remaining, res.Proof.After.Remaining)
	if res.Call.Signal.Recommendation != "" {
		fmt.Fprintf(&b, " It recommended: %s", res.Call.Signal.Recommendation)
	} else if line, _, _ := strings.Cut(strings.TrimSpace(res.Call.Final), "\n"); line != "" {
		fmt.Fprintf(&b, " It said: %.300s", line)
	}
	return b.String()
}
