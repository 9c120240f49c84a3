package report

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/state/view"
)

const (
	mostRows  = 128 // of each list, in a page that is too large
	briefText = 200 // columns of a text there
)

// Within is the page in a limited number of bytes: where it would have more, lists end early, and the page says how
// many rows are missing and what shows all.
func (r *Report) Within(most int) ([]byte, error) {
	data, err := r.HTML()
	for n := mostRows; len(data) > most && n > 0 && err == nil; n /= 2 {
		data, err = r.brief(n).HTML()
	}
	return data, err
}

// brief is the report with at most n rows of each list, short texts, and neither patches nor a long picture.
func (r *Report) brief(n int) *Report {
	b := *r
	var left []string
	if b.changes = nil; len(b.Timeline) > 4*n {
		b.Timeline = nil
	}
	b.Tasks, left = firstOf(b.Tasks, n, "tasks", left)
	b.Findings, left = firstOf(b.Findings, n, "findings", left)
	b.Questions, left = firstOf(b.Questions, n, "questions", left)
	b.Learned, left = firstOf(b.Learned, n, "lessons", left)
	b.Cost.Task, left = firstOf(b.Cost.Task, n, "tasks with a cost", left)
	short := func(texts ...*string) {
		for _, text := range texts {
			*text = termtext.Fit(*text, briefText)
		}
	}
	short(&b.Project, &b.Result, &b.Why, &b.Advice, &b.LastError)
	for i := range b.Tasks {
		t := &b.Tasks[i]
		short(&t.Title, &t.Verdict)
		t.Iterations, t.Commits, t.Reviews = t.Iterations[:min(n, len(t.Iterations))], t.Commits[:min(n, len(t.Commits))], nil
	}
	for i := range b.Findings {
		short(&b.Findings[i].Text, &b.Findings[i].Show, &b.Findings[i].Accept)
	}
	for _, texts := range [][]string{b.Questions, b.Learned} {
		for i := range texts {
			short(&texts[i])
		}
	}
	for i := range b.Cost.Task {
		short(&b.Cost.Task[i].Name)
	}
	if len(left) > 0 {
		b.Advice = view.Join(" ", b.Advice, fmt.Sprintf("(Not shown here: %s; ralph report %s --html FILE has all.)", strings.Join(left, ", "), r.Run))
	}
	return &b
}

// firstOf is a copy of the first n rows, and appends to left how many rows it leaves out.
func firstOf[T any](rows []T, n int, name string, left []string) ([]T, []string) {
	if len(rows) > n {
		left = append(left, fmt.Sprintf("%d %s", len(rows)-n, name))
	}
	return slices.Clone(rows[:min(n, len(rows))]), left
}
