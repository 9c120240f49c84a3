package ledger

// This file collects what the next prompt says about earlier turns.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ralph/runner/agent"
	"ralph/runner/audit"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
)

// Notes are the notes of a run.
type Notes struct {
	state.NextPrompt
	told []string // by hooks, since the last Settle

	people   state.NoteStore
	inPrompt []state.Note // in the prompts of turns that are still running
}

// Give returns the notes of people that no prompt has had yet, for the prompt of an iteration.
func (n *Notes) Give(from state.Origin, t task.Task) (texts []string) {
	all, err := n.people.List()
	n.inPrompt = slices.DeleteFunc(n.inPrompt, func(g state.Note) bool { return g.Iteration == from.Iteration })
	for _, one := range all {
		taken := slices.ContainsFunc(n.inPrompt, func(g state.Note) bool { return g.ID == one.ID })
		if err == nil && one.Waits() && !taken {
			texts = append(texts, one.Text)
			one.Run, one.Iteration, one.Task = from.Run, from.Iteration, t.Title
			n.inPrompt = append(n.inPrompt, one)
		}
	}
	return texts
}

// Delivered records that a turn is over and had its notes. If it does not count, the next turn gets them.
func (n *Notes) Delivered(res turn.Result, counts bool) (err error) {
	n.inPrompt = slices.DeleteFunc(n.inPrompt, func(g state.Note) bool {
		if g.Iteration == res.Origin.Iteration && counts {
			err = errors.Join(err, n.people.Save(g))
		}
		return g.Iteration == res.Origin.Iteration
	})
	return err
}

// Begin forgets the notes for the last turn, but not what hooks have said since.
func (n *Notes) Begin(res turn.Result) {
	n.NextPrompt = state.NextPrompt{Task: res.Task.ID, Last: summaryOf(res)}
}

// Add adds what a decision tells the agent, without repetitions: a check before an iteration
// often says the same as the one after the last iteration.
func (n *Notes) Add(d rules.Decision) {
	if d.Refused != "" {
		n.Refused = d.Refused
	}
	n.hint(d.Feedback...)
}

// hint adds texts that are new.
func (n *Notes) hint(texts ...string) {
	for _, text := range texts {
		if !slices.Contains(n.Feedback, text) {
			n.Feedback = append(n.Feedback, text)
		}
	}
}

// Drop removes what a decision tells the agent: the next turn has another task, in files without this work.
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

// Payload returns the event about the prompt of an iteration; nil: there is nothing to say.
func (n *Notes) Payload(iteration int, in prompt.Input) state.Payload {
	items := slices.Clone(in.Feedback)
	if in.Refused != "" {
		items = slices.Insert(items, 0, "Your claim of completion was refused: "+in.Refused)
	}
	for _, a := range in.Answers {
		items = append(items, "A person's answer to \""+a.Question+"\": "+a.Answer)
	}
	for _, g := range n.inPrompt {
		if g.Iteration == iteration {
			items = append(items, "A person's note "+g.ID+": "+g.Text)
		}
	}
	if len(items) == 0 {
		return nil
	}
	return state.Feedback{Items: items}
}

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
		instead := "run them one by one"
		if agent.WritesFile(t.Name, t.Arg) {
			instead = "run it without the redirection to a file"
		}
		hints = append(hints, fmt.Sprintf("The compound command %q was refused although its parts are permitted: %s.", t.Arg, instead))
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
