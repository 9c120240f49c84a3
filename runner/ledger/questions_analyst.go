package ledger

import (
	"strings"
	"time"

	"ralph/logs"
	"ralph/runner/roles"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/question"
)

// withAnalyst is true while a task waits for the analyst to look at its questions.
func (b *Questions) withAnalyst(taskID string) bool {
	n := b.Tasks[taskID]
	return n != nil && roles.ByPhase(n.Review.Phase).Answers
}

// Asked returns the open questions of a task, and what the agent said around them.
func (b *Questions) Asked(taskID string) (texts, context []string) {
	for _, q := range b.open(taskID) {
		texts = append(texts, withOptions(q))
		if q.Context != "" {
			context = append(context, q.Context)
		}
	}
	return texts, context
}

func (b *Questions) open(taskID string) (open []*question.Question) {
	for i := range b.all {
		if q := &b.all[i]; q.Task == taskID && q.Open() {
			open = append(open, q)
		}
	}
	return open
}

// withOptions returns a question with its options.
func withOptions(q *question.Question) string {
	if len(q.Options) == 0 {
		return q.Text
	}
	return q.Text + " Options: " + strings.Join(q.Options, " | ")
}

// Advise stores the analyst's answers and advice. Questions without an answer wait for a person.
// It returns how many there are.
func (b *Questions) Advise(t task.Task, o roles.Outcome) (left int, err error) {
	b.Tasks.Of(t.ID).Review.Phase = ""
	if err := b.refresh(); err != nil {
		return 1, err
	}
	for _, q := range b.open(t.ID) {
		err := b.change(q, func(q *question.Question) {
			for _, v := range o.Verdicts {
				answer, advice := adviceOn(v, withOptions(q))
				q.Advice = logs.Redact(advice)
				if answer != "" && q.Open() { // a person may have been faster
					q.Answer, q.AnsweredBy, q.AnsweredAt = logs.Redact(answer), roles.Analyst, time.Now()
				}
			}
		})
		if err != nil {
			return left + 1, err
		}
		if q.Open() {
			left++
			continue
		}
		b.emit(b.Origin(t), state.Answer{ID: q.ID, Text: q.Answer, By: q.AnsweredBy})
	}
	return left, nil
}

// adviceOn returns what a verdict says about a question.
func adviceOn(v state.Verdict, asked string) (answer, advice string) {
	for _, j := range v.Justified {
		if j.Finding == asked {
			return j.Why, ""
		}
	}
	var lines []string
	for _, r := range v.Reasons {
		lines = append(lines, r.String())
	}
	switch {
	case v.Verdict == state.VerdictNone:
		return "", "The analyst gave no answer: " + v.Why
	case len(lines) == 0:
		return "", "The analyst found no answer in the project."
	}
	return "", strings.Join(lines, "\n")
}
