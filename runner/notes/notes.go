// Package notes is what the next prompt says about the past.
package notes

import (
	"slices"

	"ralph/runner/rules"
	"ralph/runner/turn"
	"ralph/state"
)

// Notes are those of a run.
type Notes struct {
	state.NextPrompt
	told []string // by hooks, since the last Settle
}

// Begin forgets what was for the turn before, but not what hooks have said since.
func (n *Notes) Begin(res turn.Result) {
	n.NextPrompt = state.NextPrompt{Task: res.Task.ID, Last: rules.Summary(res)}
}

// Add keeps what a decision has to say to the agent. A check before an iteration
// may only repeat the one after the last.
func (n *Notes) Add(d rules.Decision) {
	if d.Refused != "" {
		n.Refused = d.Refused
	}
	n.hint(d.Feedback...)
}

// hint adds texts that are not there yet.
func (n *Notes) hint(texts ...string) {
	for _, text := range texts {
		if !slices.Contains(n.Feedback, text) {
			n.Feedback = append(n.Feedback, text)
		}
	}
}

// Tell keeps what hooks say until Settle: the turn that they ran in may not be over.
func (n *Notes) Tell(texts []string) { n.told = append(n.told, texts...) }

// Settle adds hints, and what hooks have said.
func (n *Notes) Settle(hints ...string) {
	n.hint(append(hints, n.told...)...)
	n.told = nil
}

// Payload is what the event says; nil: nothing.
func (n *Notes) Payload() state.Payload {
	items := slices.Clone(n.Feedback)
	if n.Refused != "" {
		items = slices.Insert(items, 0, "Your claim of completion was refused: "+n.Refused)
	}
	if len(items) == 0 {
		return nil
	}
	return state.Feedback{Items: items}
}

// Repeated are the findings about tools that fail again and again, and what the agent is told.
func Repeated(texts []string, task string) (found []state.Finding, hints []string) {
	for _, text := range texts {
		found = append(found, state.Finding{Source: state.FoundByAudit, Name: "repeated_failure", Task: task, Text: text, Doubt: true})
		hints = append(hints, "ralph sees that "+text+". Do not just repeat the call: find the cause, or take another way.")
	}
	return found, hints
}
