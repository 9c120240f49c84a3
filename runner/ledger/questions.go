package ledger

// This file keeps a run's view of its agents' questions: which tasks wait for a person, and which answers the next
// prompt must contain.

import (
	"fmt"
	"slices"
	"time"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/prompt"
	"ralph/runner/task"
	"ralph/runner/turn"
	"ralph/state"
	"ralph/state/question"
)

const (
	// maxRounds limits how many turns may ask about one task. After that, the agent must decide itself.
	maxRounds = 3
	// maxPerTurn limits the questions of one turn.
	maxPerTurn = 4
)

// keepsAsking is the reason to put a task aside if its agent asks again after that.
const keepsAsking = "its agent keeps asking although it was told to decide"

// decide tells an agent that nobody will answer its question.
const decide = "You have asked often enough about this task. " +
	"Decide yourself now, and write the decision and its reason down in the project."

// Questions holds the questions of a project, as they were when they were read last.
type Questions struct {
	l            *Ledger // is told which tasks wait
	store        question.Store
	all          []question.Question
	given        map[string][]string // ids of the answered questions in the latest prompt for a task
	toldToDecide map[string]bool     // tasks whose agents were told to decide
}

func openQuestions(l *Ledger) Questions {
	return Questions{l: l, store: question.In(l.State.Reader), given: map[string][]string{}, toldToDecide: map[string]bool{}}
}

// Waiting reads the questions again, reports each new answer, and returns the questions that hold up unfinished tasks or,
// without a plan, the run. An answer does not bring back a task that was put aside. It writes an open question again if its
// file is gone: agents clean up.
func (b *Questions) Waiting(list task.List) (open []question.Question, err error) {
	now, err := b.store.List()
	if err != nil {
		return nil, err
	}
	for _, was := range b.all {
		i := slices.IndexFunc(now, func(q question.Question) bool { return q.ID == was.ID })
		switch {
		case i < 0 && was.Open():
			if err := b.store.Save(was); err != nil {
				return nil, err
			}
			now = append(now, was)
		case i >= 0 && was.Open() && !now[i].Open():
			about := task.Task{ID: was.Task, Title: was.Title}
			b.l.Tell(b.l.Origin(about), state.Answer{ID: was.ID, Text: now[i].Answer, By: now[i].AnsweredBy})
		}
	}
	b.all = now
	waits := map[string]bool{}
	for _, q := range b.all {
		if q.Open() && concerns(q, list) && b.l.Tasks.Of(q.Task).Aside.Why == "" {
			open = append(open, q)
			waits[q.Task] = true
		}
	}
	b.l.Tasks.Wait(waits)
	return open, nil
}

func concerns(q question.Question, list task.List) bool {
	if len(list.Tasks) == 0 {
		return q.Task == ""
	}
	return slices.ContainsFunc(list.Tasks, func(t task.Task) bool { return t.ID == q.Task && t.Pending() })
}

// WaitOver reports whether an answer or a change of the plan has ended the wait for answers.
func (b *Questions) WaitOver(list task.List) bool {
	open, err := b.Waiting(list)
	_, next := b.l.Tasks.Choose(list)
	return err != nil || next || len(open) == 0 // the caller then reads the questions again and gets the error
}

// Limit returns the result with only those questions that go to a person: those of a task that
// is not done and has not asked too often. feedback is for the agent's next prompt.
func (b *Questions) Limit(res turn.Result) (limited turn.Result, feedback []string) {
	asks := res.Call.Asks
	p := res.Proof.After
	decided := p.IsDone(res.Task.ID) || p.Total > 0 && p.Remaining == 0 || res.Claims()
	if len(asks) == 0 || decided || res.Cut != "" || !res.Call.Outcome.Class.Success() {
		return turn.Asking(res, nil, ""), nil
	}
	before := map[state.Origin]bool{} // turns that asked
	for _, q := range b.all {
		if q.Task == res.Task.ID && (q.Task != "" || q.Run == res.Origin.Run) {
			before[state.Origin{Run: q.Run, Iteration: q.Iteration}] = true
		}
	}
	switch {
	case len(before) >= maxRounds && b.toldToDecide[res.Task.ID] && res.Task.ID != "":
		return turn.Asking(res, nil, keepsAsking), nil
	case len(before) >= maxRounds:
		b.toldToDecide[res.Task.ID] = true
		return turn.Asking(res, nil, ""), []string{decide}
	}
	return turn.Asking(res, asks[:min(len(asks), maxPerTurn)], ""), nil
}

// Settle records that the turn had the answers that Give returned for its task, and stores the questions that it asks.
func (b *Questions) Settle(res turn.Result, asks bool) error {
	for i, q := range b.all {
		if !slices.Contains(b.given[res.Task.ID], q.ID) {
			continue
		}
		err := b.change(&b.all[i], func(q *question.Question) { q.Told = max(res.Origin.Iteration, 1) })
		if err != nil {
			return err
		}
	}
	delete(b.given, res.Task.ID)
	if !asks {
		return nil
	}
	for _, ask := range res.Call.Asks {
		q := question.Question{Run: res.Origin.Run, Iteration: res.Origin.Iteration, Task: res.Task.ID,
			Title: logs.Redact(res.Task.Title), Agent: res.Agent, AskedAt: time.Now(),
			Text: logs.Redact(ask.Text), Context: logs.Redact(turn.AskContext(res.Call.Final))}
		for _, option := range ask.Options {
			q.Options = append(q.Options, logs.Redact(option))
		}
		q, err := b.store.Add(q)
		if err != nil {
			return err
		}
		b.all = append(b.all, q)
		b.l.Tell(res.Origin, state.Question{ID: q.ID, Title: q.Title, Ask: state.Ask{Text: q.Text, Options: q.Options}})
	}
	return nil
}

// Give returns the answers that the next prompt for a task must contain.
func (b *Questions) Give(taskID string) (answers []prompt.Answer) {
	delete(b.given, taskID)
	for _, q := range b.all {
		if q.Task == taskID && !q.Open() && q.Told == 0 {
			b.given[taskID] = append(b.given[taskID], q.ID)
			answers = append(answers, prompt.Answer{Question: q.Text, Answer: q.Answer})
		}
	}
	return answers
}

// change changes a stored question and b's copy. If an agent removed or broke the file, change
// writes it again.
func (b *Questions) change(q *question.Question, f func(*question.Question)) error {
	now, err := b.store.Change(q.ID, func(now *question.Question) error { f(now); return nil })
	if err != nil {
		f(q)
		return b.store.Save(*q)
	}
	*q = now
	return nil
}

// QuestionText returns a question and its task in one line.
func QuestionText(q question.Question) string {
	text := fmt.Sprintf("%s: %s", q.ID, termtext.Line(q.Text))
	if q.Title != "" {
		text += fmt.Sprintf(" (task %q)", q.Title)
	}
	return text
}
