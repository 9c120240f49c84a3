// Package notes is what the next prompt says about the past.
package notes

import (
	"errors"
	"slices"

	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/note"
)

// Notes are those of a run.
type Notes struct {
	state.NextPrompt
	told []string // by hooks, since the last Settle

	people note.Store
	given  []note.Note // that the prompts of turns which are not over have
}

// Open lets the notes of people in.
func (n *Notes) Open(r *state.Reader) { n.people = note.In(r) }

// Give returns the notes of people that no prompt had yet. They go into that of an iteration.
func (n *Notes) Give(from state.Origin, t task.Task) (texts []string) {
	all, err := n.people.List()
	n.given = slices.DeleteFunc(n.given, func(g note.Note) bool { return g.Iteration == from.Iteration })
	for _, one := range all {
		taken := slices.ContainsFunc(n.given, func(g note.Note) bool { return g.ID == one.ID })
		if err == nil && one.Waits() && !taken {
			texts = append(texts, one.Text)
			one.Run, one.Iteration, one.Task = from.Run, from.Iteration, t.Title
			n.given = append(n.given, one)
		}
	}
	return texts
}

// Delivered notes that a turn had its notes. One that did nothing leaves them to the next.
func (n *Notes) Delivered(res turn.Result, counts bool) (err error) {
	n.given = slices.DeleteFunc(n.given, func(g note.Note) bool {
		if g.Iteration == res.Origin.Iteration && counts {
			err = errors.Join(err, n.people.Save(g))
		}
		return g.Iteration == res.Origin.Iteration
	})
	return err
}

// Begin forgets what was for the turn before, but not what hooks have said since.
func (n *Notes) Begin(res turn.Result) {
	n.NextPrompt = state.NextPrompt{Task: res.Task.ID, Last: Summary(res)}
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

// Drop takes back what a decision had to say: the next turn has another task, in files without this work.
func (n *Notes) Drop(d rules.Decision) {
	n.Refused = ""
	n.Feedback = slices.DeleteFunc(n.Feedback, func(text string) bool { return slices.Contains(d.Feedback, text) })
}

// Tell keeps what hooks say until Settle: the turn that they ran in may not be over.
func (n *Notes) Tell(texts []string) { n.told = append(n.told, texts...) }

// Settle adds hints, and what hooks have said.
func (n *Notes) Settle(hints ...string) {
	n.hint(append(hints, n.told...)...)
	n.told = nil
}

// Payload is what the event at the start of an iteration says of its prompt; nil: nothing.
func (n *Notes) Payload(iteration int, in prompt.Input) state.Payload {
	items := slices.Clone(in.Feedback)
	if in.Refused != "" {
		items = slices.Insert(items, 0, "Your claim of completion was refused: "+in.Refused)
	}
	for _, a := range in.Answers {
		items = append(items, "A person's answer to \""+a.Question+"\": "+a.Answer)
	}
	for _, g := range n.given {
		if g.Iteration == iteration {
			items = append(items, "A person's note "+g.ID+": "+g.Text)
		}
	}
	if len(items) == 0 {
		return nil
	}
	return state.Feedback{Items: items}
}

// Repeated are the findings about tools that fail again and again, and what the agent is told.
func Repeated(texts []string, task string) (found []state.Finding, hints []string) {
	for _, text := range texts {
		found = append(found, state.Finding{Source: state.FoundByAudit, Name: "repeated_failure", Task: task,
			Text: text, Doubt: true})
		hints = append(hints, "ralph sees that "+text+
			". Do not just repeat the call: find the cause, or take another way.")
	}
	return found, hints
}
